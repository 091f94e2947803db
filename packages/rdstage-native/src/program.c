// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include "child.h"
#include "cleanup.h"
#include "lines.h"
#include "memory.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_MAX_BYTES (64u << 10)
#define AGENT_FD 3

struct program {
  pid_t pid;
  int fd;
  struct line_reader *reader;
  struct line_writer *writer;
  struct watch *watch;
  program_function *function;
  void *context;
};

static bool find_program(enum hop_end end, char *path, size_t path_bytes, struct rd_error *error);
static pid_t execute(struct agent *agent, const struct program_setup *setup, int agent_fd, struct rd_error *error);
static void on_ready(void *context, short ready);
static enum lines_state take(struct program *program);
static bool on_line(void *context, const char *line, size_t bytes);

struct program *program_start(struct agent *agent, const struct program_setup *setup, struct rd_error *error) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot make a socket pair");
    return NULL;
  }
  RD_AUTO_CLOSE int ours = ends[0];
  RD_AUTO_CLOSE int its = ends[1];
  pid_t pid = execute(agent, setup, its, error);
  if (pid < 0) return NULL;
  struct program *program = memory_new(1, sizeof *program);
  program->pid = pid;
  program->fd = rd_take_fd(&ours);
  program->reader = line_reader_create(program->fd, LINE_MAX_BYTES);
  program->writer = line_writer_create(program->fd);
  program->function = setup->function;
  program->context = setup->context;
  program->watch = loop_watch(agent->loop, program->fd, POLLIN, on_ready, program);
  return program;
}

void program_destroy(struct program *program) {
  if (!program) return;
  watch_end(&program->watch);
  line_reader_destroy(program->reader);
  line_writer_destroy(program->writer);
  rd_cleanup_fd(&program->fd);
  free(program);
}

pid_t program_pid(const struct program *program) {
  return program->pid;
}

const char *program_name(enum hop_end end) {
  return end == HOP_SEND ? "rdsend" : "rdrecv";
}

void program_tell(struct program *program, json_t *message) {
  char *line = json_dumps(message, JSON_COMPACT | JSON_PRESERVE_ORDER);
  json_decref(message);
  if (!line) abort(); // out of memory: see memory.h
  line_writer_add(program->writer, line, strlen(line));
  explicit_bzero(line, strlen(line)); // it may hold the key
  free(line);
  if (program->watch) watch_change(program->watch, POLLIN | POLLOUT);
}

void program_drain(struct program *program) {
  struct pollfd polled = {.fd = program->fd, .events = POLLIN};
  while (program->watch && poll(&polled, 1, 0) == 1 && take(program) == LINES_MORE) continue;
}

static pid_t execute(struct agent *agent, const struct program_setup *setup, int agent_fd, struct rd_error *error) {
  char path[PATH_MAX], number[8];
  if (!find_program(setup->end, path, sizeof path, error)) return -1;
  snprintf(number, sizeof number, "%d", AGENT_FD);
  char name[8], option[] = "--agent-fd";
  snprintf(name, sizeof name, "%s", program_name(setup->end));
  char *arguments[] = {name, option, number, NULL};
  bool sends = setup->end == HOP_SEND;
  struct child child = {
      .file = path,
      .arguments = arguments,
      .fds = {sends ? setup->data_fd : agent->null_fd, sends ? agent->null_fd : setup->data_fd, STDERR_FILENO, agent_fd,
              setup->adopt_fd},
      .fd_count = setup->adopt_fd < 0 ? 4 : 5,
  };
  return child_start(&child, error);
}

// Beside this program, in dynamic/ first: the build that can use what the host has.
static bool find_program(enum hop_end end, char *path, size_t path_bytes, struct rd_error *error) {
  static const char *const folders[] = {"/dynamic", ""};
  char here[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", here, sizeof here - 1);
  if (length < 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot find out where rdstage is");
    return false;
  }
  here[length] = '\0';
  *strrchr(here, '/') = '\0';
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    int written = snprintf(path, path_bytes, "%s%s/%s", here, folders[i], program_name(end));
    if (written > 0 && (size_t)written < path_bytes && access(path, X_OK) == 0) return true;
  }
  rd_error_set(error, RD_CODE_INTERNAL, "there is no %s in %s", program_name(end), here);
  return false;
}

static void on_ready(void *context, short ready) {
  struct program *program = context;
  if ((ready & POLLOUT) && line_writer_flush(program->writer) && !line_writer_queued_bytes(program->writer))
    watch_change(program->watch, POLLIN);
  if (ready & (POLLIN | POLLERR | POLLHUP)) take(program);
}

// After its end nothing is watched any more: what it means is told by its exit.
static enum lines_state take(struct program *program) {
  struct rd_error ignored;
  enum lines_state state = line_reader_take(program->reader, on_line, program, &ignored);
  if (state == LINES_MORE) return state;
  if (state == LINES_FAILED) kill(program->pid, SIGKILL); // our own program speaks nonsense: it is broken
  watch_end(&program->watch);
  return state;
}

static bool on_line(void *context, const char *line, size_t bytes) {
  struct program *program = context;
  json_error_t why;
  json_t *event = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &why);
  if (!json_string_value(json_object_get(event, "event"))) {
    json_decref(event);
    return false;
  }
  program->function(program->context, event);
  json_decref(event);
  return true;
}
