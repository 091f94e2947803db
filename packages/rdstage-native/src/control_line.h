// SPDX-License-Identifier: Apache-2.0
// The agent's line to rdpipe: requests come in, events go out, and neither ever makes the loop wait.
#ifndef RD_STAGE_CONTROL_LINE_H
#define RD_STAGE_CONTROL_LINE_H

#include "loop.h"
#include "request.h"

#include <jansson.h>

struct control_handler {
  // Something was heard. The request is cleared after the call.
  void (*request)(void *context, struct request *request);
  // rdpipe is gone (RD_CODE_ABORTED), or sent nonsense (RD_CODE_USAGE). Called once; nothing more is read.
  void (*lost)(void *context, const struct rd_error *why);
  void *context;
};

struct control;
// Borrows both descriptors, which stay as they are.
struct control *control_create(struct loop *loop, int in_fd, int out_fd, const struct control_handler *handler);
void control_destroy(struct control *control); // NULL-safe

// Begins to take requests.
void control_listen(struct control *control);
// Queues one line of text.
void control_emit_line(struct control *control, const char *line);
// Queues an event and gives up the reference.
void control_emit(struct control *control, json_t *event);
// The same, but drops it when rdpipe is slow to read: a later one says more.
void control_emit_if_idle(struct control *control, json_t *event);
// Queues `alive` before everything else, unless one waits already.
void control_emit_alive(struct control *control);
// Writes what is queued, for at most `limit_ms`.
void control_flush(struct control *control, int64_t limit_ms);

#endif
