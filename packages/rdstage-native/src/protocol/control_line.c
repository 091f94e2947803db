// SPDX-License-Identifier: Apache-2.0
#include "protocol/control_line.h"

#include "base/io.h"
#include "base/memory.h"
#include "protocol/event.h"
#include "runtime/lines.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_BYTES (64u << 10)
// More than the unacknowledged stderr of all stages: if this much is queued, rdpipe has stopped reading.
#define QUEUE_MAX_BYTES (96u << 20)

struct rd_control_line {
  struct rd_loop *loop;
  struct rd_control_line_handler handler;
  int out_fd;
  struct rd_line_reader *reader;
  struct rd_line_writer *writer;
  struct rd_watch *readable, *writable;
  bool lost; // the handler was called
  bool gone; // nothing can be written any more
};

static void on_readable(void *context, short ready);
static bool on_line(void *context, const char *line, size_t bytes);
static void on_writable(void *context, short ready);
static void lose(struct rd_control_line *control, enum rd_code code, const char *reason);
static void queue(struct rd_control_line *control, json_t *event);
static void watch_writing(struct rd_control_line *control);

struct rd_control_line *rd_control_line_create(struct rd_loop *loop, int in_fd, int out_fd,
                                               const struct rd_control_line_handler *handler) {
  struct rd_control_line *control = rd_memory_new(1, sizeof *control);
  control->loop = loop;
  control->handler = *handler;
  control->out_fd = out_fd;
  control->reader = rd_line_reader_create(in_fd, RD_REQUEST_LINE_MAX_BYTES);
  control->writer = rd_line_writer_create(out_fd);
  control->readable = rd_loop_watch(loop, in_fd, RD_WATCH_NOTHING, on_readable, control);
  // Errors are always watched for: the reader may go while nothing is queued.
  control->writable = rd_loop_watch(loop, out_fd, 0, on_writable, control);
  return control;
}

void rd_control_line_destroy(struct rd_control_line *control) {
  if (control == NULL) return;
  rd_watch_end(&control->readable);
  rd_watch_end(&control->writable);
  rd_line_reader_destroy(control->reader);
  rd_line_writer_destroy(control->writer);
  free(control);
}

void rd_control_line_listen(struct rd_control_line *control) {
  rd_watch_change(control->readable, POLLIN);
}

void rd_control_line_emit_line(struct rd_control_line *control, const char *line) {
  if (control->gone) return;
  rd_line_writer_add(control->writer, line, strlen(line));
  watch_writing(control);
}

void rd_control_line_emit(struct rd_control_line *control, json_t *event) {
  queue(control, event);
  if (rd_line_writer_queued_bytes(control->writer) > QUEUE_MAX_BYTES)
    lose(control, RD_CODE_ABORTED, "rdpipe stopped reading events");
}

void rd_control_line_emit_if_idle(struct rd_control_line *control, json_t *event) {
  if (rd_line_writer_queued_bytes(control->writer) < IDLE_BYTES)
    queue(control, event);
  else
    json_decref(event);
}

void rd_control_line_emit_alive(struct rd_control_line *control) {
  static const char line[] = "{\"event\":\"alive\"}";
  // If so much is queued that the last `alive` could not be sent, that one is still at the front.
  if (control->gone || rd_line_writer_first_is(control->writer, line)) return;
  rd_line_writer_add_first(control->writer, line, sizeof line - 1);
  watch_writing(control);
}

void rd_control_line_flush(struct rd_control_line *control, int64_t limit_ms) {
  int64_t until_ms = rd_now_ms() + limit_ms;
  while (!control->gone && rd_line_writer_queued_bytes(control->writer) > 0) {
    int64_t left_ms = until_ms - rd_now_ms();
    if (left_ms <= 0 || rd_wait_fd(control->out_fd, POLLOUT, (int)left_ms) <= 0) return;
    if (!rd_line_writer_flush(control->writer)) return;
  }
}

static void on_readable(void *context, short ready) {
  (void)ready;
  struct rd_control_line *control = context;
  struct rd_error error;
  switch (rd_line_reader_take(control->reader, on_line, control, &error)) {
  case RD_LINES_MORE:
    break;
  case RD_LINES_END:
    lose(control, RD_CODE_ABORTED, "the connection to rdpipe ended");
    break;
  case RD_LINES_FAILED:
    if (!control->lost) lose(control, RD_CODE_USAGE, error.message);
    break;
  }
}

static bool on_line(void *context, const char *line, size_t bytes) {
  struct rd_control_line *control = context;
  struct rd_request request;
  struct rd_error error;
  if (!rd_request_decode(line, bytes, &request, &error)) {
    lose(control, RD_CODE_USAGE, error.message);
    return false;
  }
  control->handler.request(control->handler.context, &request);
  rd_request_clear(&request);
  return true;
}

static void on_writable(void *context, short ready) {
  struct rd_control_line *control = context;
  if ((ready & (POLLERR | POLLHUP)) || !rd_line_writer_flush(control->writer)) {
    rd_watch_change(control->writable, RD_WATCH_NOTHING);
    lose(control, RD_CODE_ABORTED, "the connection to rdpipe ended");
    return;
  }
  if (!rd_line_writer_queued_bytes(control->writer)) rd_watch_change(control->writable, 0);
}

// Events can still be sent after an invalid request, but not after the end of the connection.
static void lose(struct rd_control_line *control, enum rd_code code, const char *reason) {
  rd_watch_change(control->readable, RD_WATCH_NOTHING);
  if (code == RD_CODE_ABORTED) control->gone = true;
  if (control->lost) return;
  control->lost = true;
  struct rd_error why;
  rd_error_set(&why, code, "%s", reason);
  control->handler.lost(control->handler.context, &why);
}

static void queue(struct rd_control_line *control, json_t *event) {
  char *line = json_dumps(event, JSON_COMPACT | JSON_PRESERVE_ORDER);
  if (line == NULL) abort(); // out of memory: see memory.h
  json_decref(event);
  rd_control_line_emit_line(control, line);
  free(line);
}

static void watch_writing(struct rd_control_line *control) {
  rd_watch_change(control->writable, POLLOUT);
}
