// SPDX-License-Identifier: Apache-2.0
// The agent's channel to rdpipe: receives requests and sends events, without blocking on either.
#ifndef RD_STAGE_CONTROL_LINE_H
#define RD_STAGE_CONTROL_LINE_H

#include "protocol/request.h"
#include "runtime/loop.h"

#include <jansson.h>

struct rd_control_line_handler {
  // A request arrived. It is cleared after the call.
  void (*request)(void *context, struct rd_request *request);
  // The connection to rdpipe ended (RD_CODE_ABORTED), or rdpipe sent an invalid request (RD_CODE_USAGE). Called once;
  // nothing more is read after that.
  void (*lost)(void *context, const struct rd_error *why);
  void *context;
};

struct rd_control_line;
// Borrows both descriptors and does not change their flags.
struct rd_control_line *rd_control_line_create(struct rd_loop *loop, int in_fd, int out_fd,
                                               const struct rd_control_line_handler *handler);
void rd_control_line_destroy(struct rd_control_line *control); // NULL-safe

// Begins to receive requests.
void rd_control_line_listen(struct rd_control_line *control);
// Queues one line of text.
void rd_control_line_emit_line(struct rd_control_line *control, const char *line);
// Queues an event and gives up the reference.
void rd_control_line_emit(struct rd_control_line *control, json_t *event);
// The same, but drops the event if rdpipe is slow to read; a later event replaces it.
void rd_control_line_emit_if_idle(struct rd_control_line *control, json_t *event);
// Queues `alive` before everything else, unless one is queued already.
void rd_control_line_emit_alive(struct rd_control_line *control);
// Blocks: writes the queued lines, for at most `limit_ms`.
void rd_control_line_flush(struct rd_control_line *control, int64_t limit_ms);

#endif
