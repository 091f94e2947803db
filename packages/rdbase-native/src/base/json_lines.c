// SPDX-License-Identifier: Apache-2.0
#include "base/json_lines.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"

#include <sys/socket.h>

#define OUT_MAX_BYTES (256u << 10)
#define OUT_BUSY_BYTES 4096u // droppable lines are dropped while more than this is waiting

struct rd_json_lines {
  int fd;
  size_t in_bytes, out_bytes;
  bool ended; // no more input will come
  bool lost;  // no more output can be sent
  char in[RD_JSON_LINE_MAX_BYTES];
  char out[OUT_MAX_BYTES];
};

static bool fill(struct rd_json_lines *lines);
static enum rd_outcome parse(struct rd_json_lines *lines, size_t line_bytes, json_t **object, struct rd_error *error);
static void write_out(struct rd_json_lines *lines);

struct rd_json_lines *rd_json_lines_create(int fd, struct rd_error *error) {
  if (!rd_set_nonblocking(fd)) {
    rd_error_set_errno(error, RD_CODE_USAGE, "cannot use descriptor %d", fd);
    close(fd);
    return NULL;
  }
  struct rd_json_lines *lines = rd_memory_new(1, sizeof *lines);
  lines->fd = fd;
  return lines;
}

void rd_json_lines_destroy(struct rd_json_lines *lines) {
  if (lines == NULL) return;
  rd_cleanup_fd(&lines->fd);
  explicit_bzero(lines->in, sizeof lines->in);
  explicit_bzero(lines->out, sizeof lines->out);
  free(lines);
}

enum rd_outcome rd_json_lines_next(struct rd_json_lines *lines, json_t **object, struct rd_error *error) {
  write_out(lines);
  for (;;) {
    const char *end = memchr(lines->in, '\n', lines->in_bytes);
    if (end != NULL) return parse(lines, (size_t)(end - lines->in) + 1, object, error);
    if (lines->in_bytes == sizeof lines->in) {
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
  size_t most = droppable ? OUT_BUSY_BYTES : sizeof lines->out;
  size_t room = lines->out_bytes < most ? most - lines->out_bytes : 0;
  // Formats directly into the buffer, because a copy of a key would have to be wiped.
  size_t bytes = json_dumpb(object, lines->out + lines->out_bytes, room, JSON_COMPACT);
  json_decref(object);
  if (bytes == 0 || bytes >= room || lines->lost) return;
  lines->out[lines->out_bytes + bytes] = '\n';
  lines->out_bytes += bytes + 1;
  write_out(lines);
}

void rd_json_lines_drain(struct rd_json_lines *lines, int most_ms) {
  int64_t until_ms = rd_now_ms() + most_ms;
  for (;;) {
    write_out(lines);
    int64_t left_ms = until_ms - rd_now_ms();
    if (lines->out_bytes == 0 || lines->lost || left_ms <= 0) return;
    rd_wait_fd(lines->fd, POLLOUT, (int)left_ms);
  }
}

struct pollfd rd_json_lines_poll(const struct rd_json_lines *lines) {
  short out = lines->out_bytes > 0 && !lines->lost ? POLLOUT : 0;
  return (struct pollfd){.fd = lines->ended ? -1 : lines->fd, .events = (short)(POLLIN | out)};
}

// Returns false if nothing was received.
static bool fill(struct rd_json_lines *lines) {
  if (lines->ended) return false;
  ssize_t got = rd_read_some(lines->fd, lines->in + lines->in_bytes, sizeof lines->in - lines->in_bytes);
  if (got > 0) lines->in_bytes += (size_t)got;
  if (got == 0 || (got < 0 && errno != EAGAIN)) lines->ended = true;
  return got > 0;
}

static enum rd_outcome parse(struct rd_json_lines *lines, size_t line_bytes, json_t **object, struct rd_error *error) {
  json_error_t ignored;
  *object = json_loadb(lines->in, line_bytes, 0, &ignored);
  lines->in_bytes -= line_bytes;
  memmove(lines->in, lines->in + line_bytes, lines->in_bytes);
  explicit_bzero(lines->in + lines->in_bytes, line_bytes);
  if (json_is_object(*object)) return RD_OUTCOME_DONE;
  json_decref(*object);
  rd_error_set(error, RD_CODE_INTERNAL, "the agent sent a line that is not a JSON object");
  return RD_OUTCOME_FAILED;
}

static void write_out(struct rd_json_lines *lines) {
  while (lines->out_bytes > 0 && !lines->lost) {
    ssize_t written = send(lines->fd, lines->out, lines->out_bytes, MSG_NOSIGNAL);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) return;
    lines->lost = written < 0;
    if (written < 0) return;
    lines->out_bytes -= (size_t)written;
    memmove(lines->out, lines->out + written, lines->out_bytes);
    explicit_bzero(lines->out + lines->out_bytes, (size_t)written);
  }
}
