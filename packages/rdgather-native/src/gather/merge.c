// SPDX-License-Identifier: Apache-2.0
#include "gather/merge.h"

#include "base/io.h"
#include "base/memory.h"
#include "gather/line_buffer.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct input {
  int fd; // -1: it has ended
  const char *label;
  struct rd_line_buffer buffer;
  bool in_line; // the beginning of a line was written, but not its end
};

struct merge {
  bool by_host; // one input after another; otherwise line by line
  struct input *inputs;
  int out_fd;
  size_t count;
  struct pollfd *polls;
  struct input *owner; // the input whose line was written in part; NULL: none
};

static bool merge_all(struct merge *merge);
static bool wait_for_input(struct merge *merge);
static bool is_read_now(const struct merge *merge, const struct input *input, bool is_first);
static bool take(struct merge *merge, struct input *input);
static bool take_end(struct merge *merge, struct input *input);
static bool write_lines(struct merge *merge, struct input *input, size_t count);
static bool write_line(struct merge *merge, struct input *input, const char *line, size_t count);

bool rd_merge(const struct rd_merge_settings *settings, struct rd_error *error) {
  struct merge merge = {.by_host = settings->by_host, .out_fd = settings->out_fd, .count = settings->count};
  merge.inputs = rd_memory_new(merge.count, sizeof *merge.inputs);
  merge.polls = rd_memory_new(merge.count, sizeof *merge.polls);
  for (size_t i = 0; i < merge.count; i++) {
    const char *label = settings->labels != NULL ? settings->labels[i] : NULL;
    merge.inputs[i] = (struct input){.fd = settings->first_fd + (int)i, .label = label};
    rd_set_nonblocking(merge.inputs[i].fd);
  }
  bool is_good = merge_all(&merge);
  if (!is_good) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot merge the outputs");
  for (size_t i = 0; i < merge.count; i++) rd_line_buffer_clear(&merge.inputs[i].buffer);
  free(merge.inputs);
  free(merge.polls);
  return is_good;
}

// Writes the output like any command: while its reader takes nothing, no input is read.
static bool merge_all(struct merge *merge) {
  while (wait_for_input(merge)) {
    for (size_t i = 0; i < merge->count; i++) {
      if (merge->polls[i].revents == 0) continue;
      bool is_read = merge->owner == NULL || merge->owner == &merge->inputs[i];
      if (is_read && !take(merge, &merge->inputs[i])) return false;
    }
  }
  return errno == 0;
}

// Returns false if all inputs have ended, or if errno is set.
static bool wait_for_input(struct merge *merge) {
  bool any = false;
  for (size_t i = 0; i < merge->count; i++) {
    struct input *input = &merge->inputs[i];
    bool is_read = is_read_now(merge, input, !any);
    any |= input->fd >= 0;
    merge->polls[i] = (struct pollfd){.fd = is_read ? input->fd : -1, .events = POLLIN};
  }
  errno = 0;
  if (!any) return false;
  int ready;
  while ((ready = poll(merge->polls, merge->count, -1)) < 0 && errno == EINTR) errno = 0;
  return ready >= 0;
}

// `is_first`: all inputs before this one have ended.
static bool is_read_now(const struct merge *merge, const struct input *input, bool is_first) {
  if (merge->by_host) return is_first;
  return merge->owner == NULL || merge->owner == input;
}

// Reads only once, so that every input gets its turn.
static bool take(struct merge *merge, struct input *input) {
  struct rd_line_buffer *buffer = &input->buffer;
  size_t room, looked_at = buffer->count;
  char *bytes = rd_line_buffer_room(buffer, &room);
  if (bytes == NULL) { // a line longer than the buffer: the other inputs wait for its end
    if (!write_lines(merge, input, buffer->count)) return false;
    bytes = rd_line_buffer_room(buffer, &room);
    looked_at = 0;
  }
  ssize_t got = rd_read_some(input->fd, bytes, room);
  if (got < 0) return errno == EAGAIN;
  if (got == 0) return take_end(merge, input);
  buffer->count += (size_t)got;
  size_t whole = rd_line_buffer_whole(buffer, looked_at);
  if (merge->by_host && input->label == NULL) whole = buffer->count;
  return write_lines(merge, input, whole);
}

// Adds the missing end of a last line, because another host's line may follow. If the inputs are written one after
// another, the bytes stay unchanged.
static bool take_end(struct merge *merge, struct input *input) {
  bool is_open = input->in_line || input->buffer.count > 0;
  if (!write_lines(merge, input, input->buffer.count)) return false;
  bool ends_line = is_open && input->in_line && (!merge->by_host || input->label != NULL);
  if (ends_line && !rd_write_all(merge->out_fd, "\n", 1)) return false;
  close(input->fd);
  input->fd = -1;
  if (merge->owner == input) merge->owner = NULL;
  rd_line_buffer_clear(&input->buffer);
  return true;
}

// Writes `count` bytes from the beginning of the buffer; the last line may be incomplete.
static bool write_lines(struct merge *merge, struct input *input, size_t count) {
  const char *next = input->buffer.bytes, *end = next + count;
  if (count == 0) return true;
  if (input->label == NULL) {
    if (!write_line(merge, input, next, count)) return false;
    next = end;
  }
  while (next < end) {
    const char *newline = memchr(next, '\n', (size_t)(end - next));
    size_t line_bytes = (size_t)((newline != NULL ? newline + 1 : end) - next);
    if (!write_line(merge, input, next, line_bytes)) return false;
    next += line_bytes;
  }
  rd_line_buffer_drop(&input->buffer, count);
  return true;
}

static bool write_line(struct merge *merge, struct input *input, const char *line, size_t count) {
  if (input->label != NULL && !input->in_line) {
    if (!rd_write_all(merge->out_fd, input->label, strlen(input->label))) return false;
  }
  if (!rd_write_all(merge->out_fd, line, count)) return false;
  input->in_line = line[count - 1] != '\n';
  merge->owner = input->in_line ? input : NULL;
  return true;
}
