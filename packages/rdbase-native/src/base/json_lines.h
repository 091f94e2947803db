// SPDX-License-Identifier: Apache-2.0
// Sends and receives JSON objects, one a line, on a socket.
#ifndef RD_BASE_JSON_LINES_H
#define RD_BASE_JSON_LINES_H

#include "base/error.h"
#include "base/outcome.h"

#include <jansson.h>
#include <poll.h>

#define RD_JSON_LINE_MAX_BYTES (64u << 10)

struct rd_json_lines; // opaque

// Takes ownership of the descriptor, also when it fails, and makes it non-blocking.
struct rd_json_lines *rd_json_lines_create(int fd, struct rd_error *error);
void rd_json_lines_destroy(struct rd_json_lines *lines); // NULL-safe

// The next object, in *object (a new reference). RD_OUTCOME_FAILED: the other side is gone, or sent a line that is too
// long or no object. A received line is wiped.
enum rd_outcome rd_json_lines_next(struct rd_json_lines *lines, json_t **object, struct rd_error *error);

// Queues a line (steals the reference) and writes as much as the socket takes; sent bytes are wiped. A `droppable` line
// is left out while more than a few lines wait.
void rd_json_lines_put(struct rd_json_lines *lines, json_t *object, bool droppable);
// Waits until everything is written, the other side is gone, or `most_ms` have passed.
void rd_json_lines_drain(struct rd_json_lines *lines, int most_ms);

struct pollfd rd_json_lines_poll(const struct rd_json_lines *lines);

#endif
