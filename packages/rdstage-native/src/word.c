// SPDX-License-Identifier: Apache-2.0
#include "word.h"

#include "cleanup.h"
#include "io.h"
#include "memory.h"
#include "spawn.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

// What one of the shell's outputs gave, as far as it fits.
struct output {
  struct word *word;
  int fd;
  struct watch *watch;
  char text[PATH_MAX + 1];
  size_t bytes;
};

struct word {
  struct agent *agent;
  pid_t pid;
  int status;
  enum rd_code code;
  struct output path, complaint;
  struct timer limit;
  word_function *function;
  void *context;
};

static bool open_output(struct output *output, struct word *word, int *write_fd);
static pid_t start_shell(struct agent *agent, const char *text, int out_fd, int error_fd, struct rd_error *error);
static void on_output(void *context, short ready);
static void take_output(struct output *output);
static void on_limit(void *context);
static void finish(struct word *word, bool in_time);
static void close_output(struct output *output);
static const char *failure(struct word *word, bool in_time);

struct word *word_expand(struct agent *agent, const char *text, enum rd_code code, int64_t limit_ms,
                         word_function *function, void *context, struct rd_error *error) {
  struct word *word = memory_new(1, sizeof *word);
  *word = (struct word){.agent = agent, .pid = -1, .code = code, .function = function, .context = context};
  word->path.fd = word->complaint.fd = -1;
  RD_AUTO_CLOSE int out_fd = -1;
  RD_AUTO_CLOSE int error_fd = -1;
  if (!open_output(&word->path, word, &out_fd) || !open_output(&word->complaint, word, &error_fd))
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot make a pipe");
  else
    word->pid = start_shell(agent, text, out_fd, error_fd, error);
  if (word->pid < 0) {
    word_destroy(word);
    return NULL;
  }
  loop_timer(agent->loop, &word->limit, limit_ms, on_limit, word);
  return word;
}

void word_destroy(struct word *word) {
  if (!word) return;
  if (word->pid > 0) kill(-word->pid, SIGKILL);
  loop_timer_stop(word->agent->loop, &word->limit);
  close_output(&word->path);
  close_output(&word->complaint);
  free(word);
}

pid_t word_pid(const struct word *word) {
  return word->pid;
}

void word_reaped(struct word *word, int status) {
  word->pid = -1;
  word->status = status;
  take_output(&word->path);
  take_output(&word->complaint);
  finish(word, true);
}

static bool open_output(struct output *output, struct word *word, int *write_fd) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return false;
  output->word = word;
  output->fd = ends[0];
  *write_fd = ends[1];
  rd_set_nonblocking(output->fd);
  output->watch = loop_watch(word->agent->loop, output->fd, POLLIN, on_output, output);
  return true;
}

// A newline ends the assignment, whatever the word is: in `f=a#b;` a comment could swallow the rest.
static pid_t start_shell(struct agent *agent, const char *text, int out_fd, int error_fd, struct rd_error *error) {
  static const char before[] = "f=", after[] = "\nprintf '%s\\0' \"$f\"";
  size_t script_bytes = sizeof before + strlen(text) + sizeof after;
  RD_AUTO_FREE char *script = memory_new(script_bytes, 1);
  snprintf(script, script_bytes, "%s%s%s", before, text, after);
  char shell[] = "sh", option[] = "-c";
  char *arguments[] = {shell, option, script, NULL};
  struct spawning spawning = {
      .file = "/bin/sh",
      .arguments = arguments,
      .fds = {agent->null_fd, out_fd, error_fd},
      .fd_count = 3,
      .group = SPAWN_GROUP_OWN,
      .limits = agent->limits,
  };
  return spawn(&spawning, error);
}

static void on_output(void *context, short ready) {
  (void)ready;
  take_output(context);
}

// What does not fit is read and dropped; a path that is too long is refused later.
static void take_output(struct output *output) {
  char dropped[512];
  while (output->watch) {
    size_t room = sizeof output->text - 1 - output->bytes;
    ssize_t got = room ? rd_read_some(output->fd, output->text + output->bytes, room)
                       : rd_read_some(output->fd, dropped, sizeof dropped);
    if (got < 0) return; // nothing now
    if (got == 0) watch_end(&output->watch);
    if (room) output->bytes += (size_t)got;
  }
}

static void on_limit(void *context) {
  struct word *word = context;
  kill(-word->pid, SIGKILL);
  finish(word, false);
}

static void finish(struct word *word, bool in_time) {
  if (!word->function) return;
  loop_timer_stop(word->agent->loop, &word->limit);
  word_function *function = word->function;
  word->function = NULL;
  const char *words = failure(word, in_time);
  struct rd_error why;
  if (words) rd_error_set(&why, word->code, "cannot expand the file name: %s", words);
  function(word->context, words ? NULL : word->path.text, words ? &why : NULL);
}

// NULL when all is well.
static const char *failure(struct word *word, bool in_time) {
  if (!in_time) return "the shell takes too long";
  char *complaint = word->complaint.text;
  complaint[strcspn(complaint, "\n")] = '\0';
  if (!WIFEXITED(word->status) || WEXITSTATUS(word->status)) return *complaint ? complaint : "the shell failed";
  size_t length = strlen(word->path.text);
  if (word->path.bytes != length + 1) return word->path.bytes > PATH_MAX - 1 ? "it is too long" : "the shell failed";
  return length ? NULL : "it is empty";
}

static void close_output(struct output *output) {
  watch_end(&output->watch);
  rd_cleanup_fd(&output->fd);
}
