// SPDX-License-Identifier: Apache-2.0
// Sends and receives JSON objects, one per line, on a socket.
#ifndef RD_BASE_JSON_LINES_H
#define RD_BASE_JSON_LINES_H

#include "base/error.h"
#include "base/outcome.h"

#include <jansson.h>
#include <poll.h>

#define RD_JSON_LINE_MAX_BYTES (64u << 10)

struct rd_json_lines; // opaque

// Takes ownership of the descriptor, even on failure, and makes it non-blocking. NULL on failure.
struct rd_json_lines *rd_json_lines_create(int fd, struct rd_error *error);
void rd_json_lines_destroy(struct rd_json_lines *lines); // accepts NULL

// Stores the next object in *object (a new reference). RD_OUTCOME_FAILED: the other side is gone, or sent a line that
// is too long or not an object. Wipes the received line.
enum rd_outcome rd_json_lines_next(struct rd_json_lines *lines, json_t **object, struct rd_error *error);

// Queues a line (steals the reference) and writes as much as the socket takes; wipes sent bytes. Drops a `droppable`
// line if more than a few lines are waiting.
void rd_json_lines_put(struct rd_json_lines *lines, json_t *object, bool droppable);
// Waits until everything is written, the other side is gone, or `most_ms` have passed.
void rd_json_lines_drain(struct rd_json_lines *lines, int most_ms);

// Frees the value, and first wipes every text in its objects, because one may be a key. Accepts NULL.
void rd_json_destroy(json_t *value);

// The descriptor and events to poll for; fd -1 once no more input can come.
struct pollfd rd_json_lines_poll(const struct rd_json_lines *lines);

#endif
