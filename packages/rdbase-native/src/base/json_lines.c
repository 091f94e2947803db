// SPDX-License-Identifier: Apache-2.0
#include "base/json_lines.h"

#include "base/byte_queue.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"

#include <sys/socket.h>

#define OUT_MAX_BYTES (256u << 10)
#define OUT_BUSY_BYTES 4096u // droppable lines are dropped while more than this is waiting

struct rd_json_lines {
  int fd;
  bool ended;                   // no more input will come
  bool lost;                    // no more output can be sent
  struct rd_byte_queue in, out; // secret, because keys pass through them
};

static void wipe(json_t *value);
static bool fill(struct rd_json_lines *lines);
static enum rd_outcome parse(struct rd_json_lines *lines, const char *line, size_t bytes, json_t **object,
                             struct rd_error *error);
static void write_out(struct rd_json_lines *lines);

struct rd_json_lines *rd_json_lines_create(int fd, struct rd_error *error) {
  if (!rd_set_nonblocking(fd)) {
    rd_error_set_errno(error, RD_CODE_USAGE, "cannot use descriptor %d", fd);
    close(fd);
    return NULL;
  }
  struct rd_json_lines *lines = rd_memory_new(1, sizeof *lines);
  *lines = (struct rd_json_lines){.fd = fd, .in.is_secret = true, .out.is_secret = true};
  return lines;
}

void rd_json_lines_destroy(struct rd_json_lines *lines) {
  if (lines == NULL) return;
  rd_cleanup_fd(&lines->fd);
  rd_byte_queue_clear(&lines->in);
  rd_byte_queue_clear(&lines->out);
  free(lines);
}

enum rd_outcome rd_json_lines_next(struct rd_json_lines *lines, json_t **object, struct rd_error *error) {
  write_out(lines);
  for (;;) {
    size_t bytes;
    const char *line = rd_byte_queue_line(&lines->in, &bytes);
    if (line != NULL) return parse(lines, line, bytes, object, error);
    if (rd_byte_queue_count(&lines->in) == RD_JSON_LINE_MAX_BYTES) {
      rd_error_set(error, RD_CODE_INTERNAL, "the agent sent a line that is too long");
      return RD_OUTCOME_FAILED;
    }
    if (fill(lines)) continue;
    if (!lines->ended) return RD_OUTCOME_AGAIN;
    rd_error_set(error, RD_CODE_ABORTED, "the agent is gone");
    return RD_OUTCOME_FAILED;
  }
}

void rd_json_lines_put(struct rd_json_lines *lines, json_t *object, bool droppable) {
  size_t most = droppable ? OUT_BUSY_BYTES : OUT_MAX_BYTES, waiting = rd_byte_queue_count(&lines->out);
  size_t bytes = json_dumpb(object, NULL, 0, JSON_COMPACT);
  bool fits = bytes > 0 && waiting + bytes < most && !lines->lost;
  if (fits) {
    // Formats directly into the queue, because a copy of a key would have to be wiped.
    char *room = (char *)rd_byte_queue_reserve(&lines->out, bytes + 1);
    json_dumpb(object, room, bytes, JSON_COMPACT);
    room[bytes] = '\n';
    rd_byte_queue_fill(&lines->out, bytes + 1);
  }
  json_decref(object);
  if (fits) write_out(lines);
}

void rd_json_lines_drain(struct rd_json_lines *lines, int most_ms) {
  int64_t until_ms = rd_now_ms() + most_ms;
  for (;;) {
    write_out(lines);
    int64_t left_ms = until_ms - rd_now_ms();
    if (rd_byte_queue_count(&lines->out) == 0 || lines->lost || left_ms <= 0) return;
    rd_wait_fd(lines->fd, POLLOUT, (int)left_ms);
  }
}

struct pollfd rd_json_lines_poll(const struct rd_json_lines *lines) {
  short out = rd_byte_queue_count(&lines->out) > 0 && !lines->lost ? POLLOUT : 0;
  return (struct pollfd){.fd = lines->ended ? -1 : lines->fd, .events = (short)(POLLIN | out)};
}

void rd_json_destroy(json_t *value) {
  wipe(value);
  json_decref(value);
}

static void wipe(json_t *value) {
  const char *name;
  json_t *item;
  json_object_foreach(value, name, item) wipe(item);
  if (json_is_string(value)) explicit_bzero((char *)(uintptr_t)json_string_value(value), json_string_length(value));
}

// Returns false if nothing was received.
static bool fill(struct rd_json_lines *lines) {
  if (lines->ended) return false;
  size_t room = RD_JSON_LINE_MAX_BYTES - rd_byte_queue_count(&lines->in);
  ssize_t got = rd_read_some(lines->fd, rd_byte_queue_reserve(&lines->in, room), room);
  if (got > 0) rd_byte_queue_fill(&lines->in, (size_t)got);
  if (got == 0 || (got < 0 && errno != EAGAIN)) lines->ended = true;
  return got > 0;
}

static enum rd_outcome parse(struct rd_json_lines *lines, const char *line, size_t bytes, json_t **object,
                             struct rd_error *error) {
  json_error_t ignored;
  *object = json_loadb(line, bytes, 0, &ignored);
  rd_byte_queue_take(&lines->in, bytes + 1);
  if (json_is_object(*object)) return RD_OUTCOME_DONE;
  json_decref(*object);
  rd_error_set(error, RD_CODE_INTERNAL, "the agent sent a line that is not a JSON object");
  return RD_OUTCOME_FAILED;
}

static void write_out(struct rd_json_lines *lines) {
  size_t waiting;
  while ((waiting = rd_byte_queue_count(&lines->out)) > 0 && !lines->lost) {
    ssize_t written = send(lines->fd, rd_byte_queue_first(&lines->out), waiting, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    lines->lost = written < 0;
    if (written > 0) rd_byte_queue_take(&lines->out, (size_t)written);
  }
}
