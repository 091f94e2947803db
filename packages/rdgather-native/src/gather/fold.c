// SPDX-License-Identifier: Apache-2.0
#include "gather/fold.h"

#include "base/io.h"
#include "base/memory.h"
#include "gather/fold_labels.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536u

struct output {
  char *bytes; // NULL: none, or the same as that of `alike`
  size_t count, capacity;
  size_t alike; // the first input with this output; once it has ended
  bool ended;
};

struct fold {
  const struct rd_merge_settings *settings;
  struct output *outputs;
  struct pollfd *polls;
  size_t open, kept_bytes;
};

static bool read_all(struct fold *fold, struct rd_error *error);
static bool take(struct fold *fold, size_t index, struct rd_error *error);
static void take_end(struct fold *fold, size_t index);
static bool write_all(const struct fold *fold, struct rd_error *error);
static bool write_group(const struct fold *fold, size_t kept, const char **labels);

bool rd_fold(const struct rd_merge_settings *settings, struct rd_error *error) {
  struct fold fold = {.settings = settings, .open = settings->count};
  fold.outputs = rd_memory_new(settings->count, sizeof *fold.outputs);
  fold.polls = rd_memory_new(settings->count, sizeof *fold.polls);
  for (size_t i = 0; i < settings->count; i++) {
    fold.polls[i] = (struct pollfd){.fd = settings->first_fd + (int)i, .events = POLLIN};
    rd_set_nonblocking(fold.polls[i].fd);
  }
  bool is_good = read_all(&fold, error) && write_all(&fold, error);
  for (size_t i = 0; i < settings->count; i++) free(fold.outputs[i].bytes);
  free(fold.outputs);
  free(fold.polls);
  return is_good;
}

static bool read_all(struct fold *fold, struct rd_error *error) {
  while (fold->open > 0) {
    if (poll(fold->polls, fold->settings->count, -1) < 0 && errno != EINTR) {
      rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot wait for outputs");
      return false;
    }
    for (size_t i = 0; i < fold->settings->count; i++)
      if (fold->polls[i].fd >= 0 && fold->polls[i].revents != 0 && !take(fold, i, error)) return false;
  }
  return true;
}

static bool take(struct fold *fold, size_t index, struct rd_error *error) {
  struct output *output = &fold->outputs[index];
  if (output->capacity - output->count < READ_BYTES) {
    output->capacity = 2 * output->capacity + READ_BYTES;
    output->bytes = rd_memory_resize(output->bytes, output->capacity, 1);
  }
  ssize_t got = rd_read_some(fold->polls[index].fd, output->bytes + output->count, READ_BYTES);
  if (got < 0 && errno == EAGAIN) return true;
  if (got < 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot read the output of %.200s", fold->settings->labels[index]);
    return false;
  }
  output->count += (size_t)got;
  fold->kept_bytes += (size_t)got;
  if (got == 0) take_end(fold, index);
  if (fold->kept_bytes <= RD_FOLD_MAX_BYTES) return true;
  rd_error_set(error, RD_CODE_INTERNAL, "different outputs of more than %u MiB cannot be folded (leave out --fold)",
               RD_FOLD_MAX_BYTES >> 20);
  return false;
}

// An output that equals an earlier one is not kept twice.
static void take_end(struct fold *fold, size_t index) {
  struct output *output = &fold->outputs[index];
  close(fold->polls[index].fd);
  fold->polls[index].fd = -1;
  fold->open--;
  output->ended = true;
  output->alike = index;
  for (size_t i = 0; i < fold->settings->count; i++) {
    const struct output *other = &fold->outputs[i];
    if (i == index || !other->ended || other->alike != i || other->count != output->count) continue;
    if (output->count > 0 && memcmp(other->bytes, output->bytes, output->count) != 0) continue;
    output->alike = i;
    fold->kept_bytes -= output->count;
    free(output->bytes);
    output->bytes = NULL;
    return;
  }
  if (output->count > 0) output->bytes = rd_memory_resize(output->bytes, output->count, 1);
  output->capacity = output->count;
}

static bool write_all(const struct fold *fold, struct rd_error *error) {
  size_t count = fold->settings->count;
  const char **labels = rd_memory_new(count, sizeof *labels);
  bool *is_written = rd_memory_new(count, sizeof *is_written);
  bool is_good = true;
  for (size_t i = 0; is_good && i < count; i++) {
    size_t kept = fold->outputs[i].alike;
    if (is_written[kept] || fold->outputs[kept].count == 0) continue;
    is_written[kept] = true;
    is_good = write_group(fold, kept, labels);
  }
  if (!is_good) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot write the outputs");
  free(labels);
  free(is_written);
  return is_good;
}

// The form of the header is that of dshbak -c and clush -b.
static bool write_group(const struct fold *fold, size_t kept, const char **labels) {
  static const char rule[] = "---------------\n";
  const struct output *output = &fold->outputs[kept];
  const int out_fd = fold->settings->out_fd;
  size_t members = 0;
  for (size_t i = 0; i < fold->settings->count; i++)
    if (fold->outputs[i].alike == kept) labels[members++] = fold->settings->labels[i];
  char *list = rd_fold_labels(labels, members);
  char number[32];
  snprintf(number, sizeof number, " (%zu)\n", members);
  bool is_good = rd_write_all(out_fd, rule, sizeof rule - 1) && rd_write_all(out_fd, list, strlen(list)) &&
                 rd_write_all(out_fd, number, strlen(number)) && rd_write_all(out_fd, rule, sizeof rule - 1) &&
                 rd_write_all(out_fd, output->bytes, output->count) &&
                 (output->bytes[output->count - 1] == '\n' || rd_write_all(out_fd, "\n", 1));
  free(list);
  return is_good;
}
