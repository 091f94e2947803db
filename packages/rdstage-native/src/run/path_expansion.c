// SPDX-License-Identifier: Apache-2.0
#include "run/path_expansion.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "base/spawn.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

// One of the shell's outputs, truncated to the buffer.
struct output {
  struct rd_path_expansion *expansion;
  int fd;
  struct rd_watch *watch;
  char text[PATH_MAX + 1];
  size_t bytes;
};

struct rd_path_expansion {
  struct rd_agent *agent;
  pid_t pid;
  int status;
  enum rd_code code;
  struct output path, complaint;
  struct rd_timer limit;
  rd_path_function *function;
  void *context;
};

static bool open_output(struct output *output, struct rd_path_expansion *expansion, int *write_fd);
static pid_t start_shell(struct rd_agent *agent, const char *text, int out_fd, int error_fd, struct rd_error *error);
static void on_output(void *context, short ready);
static void take_output(struct output *output);
static void on_limit(void *context);
static void finish(struct rd_path_expansion *expansion, bool in_time);
static void close_output(struct output *output);
static const char *failure(struct rd_path_expansion *expansion, bool in_time);

struct rd_path_expansion *rd_path_expand(struct rd_agent *agent, const char *text, enum rd_code code, int64_t limit_ms,
                                         rd_path_function *function, void *context, struct rd_error *error) {
  struct rd_path_expansion *expansion = rd_memory_new(1, sizeof *expansion);
  *expansion =
      (struct rd_path_expansion){.agent = agent, .pid = -1, .code = code, .function = function, .context = context};
  expansion->path.fd = expansion->complaint.fd = -1;
  RD_AUTO_CLOSE int out_fd = -1;
  RD_AUTO_CLOSE int error_fd = -1;
  if (!open_output(&expansion->path, expansion, &out_fd) || !open_output(&expansion->complaint, expansion, &error_fd))
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create a pipe");
  else
    expansion->pid = start_shell(agent, text, out_fd, error_fd, error);
  if (expansion->pid < 0) {
    rd_path_expansion_destroy(expansion);
    return NULL;
  }
  rd_loop_timer(agent->loop, &expansion->limit, limit_ms, on_limit, expansion);
  return expansion;
}

void rd_path_expansion_destroy(struct rd_path_expansion *expansion) {
  if (expansion == NULL) return;
  if (expansion->pid > 0) kill(-expansion->pid, SIGKILL);
  rd_loop_timer_stop(expansion->agent->loop, &expansion->limit);
  close_output(&expansion->path);
  close_output(&expansion->complaint);
  free(expansion);
}

pid_t rd_path_expansion_pid(const struct rd_path_expansion *expansion) {
  return expansion->pid;
}

void rd_path_expansion_reaped(struct rd_path_expansion *expansion, int status) {
  expansion->pid = -1;
  expansion->status = status;
  take_output(&expansion->path);
  take_output(&expansion->complaint);
  finish(expansion, true);
}

static bool open_output(struct output *output, struct rd_path_expansion *expansion, int *write_fd) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC)) return false;
  output->expansion = expansion;
  output->fd = ends[0];
  *write_fd = ends[1];
  rd_set_nonblocking(output->fd);
  output->watch = rd_loop_watch(expansion->agent->loop, output->fd, POLLIN, on_output, output);
  return true;
}

// A newline ends the assignment, whatever the word contains: after `f=a #b;` the rest would be part of a comment.
static pid_t start_shell(struct rd_agent *agent, const char *text, int out_fd, int error_fd, struct rd_error *error) {
  static const char before[] = "f=", after[] = "\nprintf '%s\\0' \"$f\"";
  size_t script_bytes = sizeof before + strlen(text) + sizeof after;
  RD_AUTO_FREE char *script = rd_memory_new(script_bytes, 1);
  snprintf(script, script_bytes, "%s%s%s", before, text, after);
  char shell[] = "sh", option[] = "-c";
  char *arguments[] = {shell, option, script, NULL};
  struct rd_spawning spawning = {
      .file = "/bin/sh",
      .arguments = arguments,
      .fds = {agent->null_fd, out_fd, error_fd},
      .fd_count = 3,
      .group = RD_SPAWN_GROUP_OWN,
      .before_exec = rd_stage_limits_set,
      .context = &agent->limits,
  };
  return rd_spawn(&spawning, error);
}

static void on_output(void *context, short ready) {
  (void)ready;
  take_output(context);
}

// Reads and drops the bytes that do not fit; a path that is too long is refused later.
static void take_output(struct output *output) {
  char dropped[512];
  while (output->watch != NULL) {
    size_t room = sizeof output->text - 1 - output->bytes;
    ssize_t got = room ? rd_read_some(output->fd, output->text + output->bytes, room)
                       : rd_read_some(output->fd, dropped, sizeof dropped);
    if (got < 0) return; // nothing available
    if (got == 0) rd_watch_end(&output->watch);
    if (room) output->bytes += (size_t)got;
  }
}

static void on_limit(void *context) {
  struct rd_path_expansion *expansion = context;
  kill(-expansion->pid, SIGKILL);
  finish(expansion, false);
}

static void finish(struct rd_path_expansion *expansion, bool in_time) {
  if (expansion->function == NULL) return;
  rd_loop_timer_stop(expansion->agent->loop, &expansion->limit);
  rd_path_function *function = expansion->function;
  expansion->function = NULL;
  const char *reason = failure(expansion, in_time);
  struct rd_error why;
  if (reason != NULL) rd_error_set(&why, expansion->code, "cannot expand the file name: %s", reason);
  function(expansion->context, reason != NULL ? NULL : expansion->path.text, reason != NULL ? &why : NULL);
}

// Returns NULL on success.
static const char *failure(struct rd_path_expansion *expansion, bool in_time) {
  if (!in_time) return "the shell took too long";
  char *complaint = expansion->complaint.text;
  complaint[strcspn(complaint, "\n")] = '\0';
  if (!WIFEXITED(expansion->status) || WEXITSTATUS(expansion->status))
    return *complaint ? complaint : "the shell failed";
  size_t length = strlen(expansion->path.text);
  if (expansion->path.bytes != length + 1)
    return expansion->path.bytes > PATH_MAX - 1 ? "it is too long" : "the shell failed";
  return length ? NULL : "it is empty";
}

static void close_output(struct output *output) {
  rd_watch_end(&output->watch);
  rd_cleanup_fd(&output->fd);
}
