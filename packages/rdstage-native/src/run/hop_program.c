// SPDX-License-Identifier: Apache-2.0
#include "run/hop_program.h"

#include "base/cleanup.h"
#include "base/json_lines.h"
#include "base/memory.h"
#include "base/program_paths.h"
#include "base/spawn.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define AGENT_FD 3

struct rd_hop_program {
  pid_t pid; // -1: reaped; another process may have the pid
  struct rd_json_lines *lines;
  struct rd_watch *watch; // NULL: nothing more is read from the program
  rd_hop_program_function *function;
  void *context;
};

static pid_t execute(struct rd_agent *agent, const struct rd_hop_program_setup *setup, int agent_fd,
                     struct rd_error *error);
static void on_ready(void *context, short ready);
static void hand_over(struct rd_hop_program *program, json_t *event);
static void stop_reading(struct rd_hop_program *program, bool broken);
static void watch_again(struct rd_hop_program *program);

struct rd_hop_program *rd_hop_program_start(struct rd_agent *agent, const struct rd_hop_program_setup *setup,
                                            struct rd_error *error) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create a socket pair");
    return NULL;
  }
  RD_AUTO_CLOSE int ours = ends[0];
  RD_AUTO_CLOSE int its = ends[1];
  pid_t pid = execute(agent, setup, its, error);
  if (pid < 0) return NULL;
  struct rd_json_lines *lines = rd_json_lines_create(rd_take_fd(&ours), error);
  if (lines == NULL) return NULL; // the program notices that its socket is closed, and ends
  struct rd_hop_program *program = rd_memory_new(1, sizeof *program);
  *program =
      (struct rd_hop_program){.pid = pid, .lines = lines, .function = setup->function, .context = setup->context};
  program->watch = rd_loop_watch(agent->loop, rd_json_lines_poll(lines).fd, POLLIN, on_ready, program);
  return program;
}

void rd_hop_program_destroy(struct rd_hop_program *program) {
  if (program == NULL) return;
  rd_watch_end(&program->watch);
  rd_json_lines_destroy(program->lines);
  free(program);
}

pid_t rd_hop_program_pid(const struct rd_hop_program *program) {
  return program->pid;
}

const char *rd_hop_program_name(enum rd_hop_side side) {
  return side == RD_SIDE_SEND ? "rdsend" : "rdrecv";
}

void rd_hop_program_send(struct rd_hop_program *program, json_t *message) {
  rd_json_lines_put(program->lines, message, false);
  watch_again(program);
}

bool rd_hop_program_has_left(const struct rd_hop_program *program) {
  if (program->watch == NULL) return true;
  struct pollfd socket = {.fd = rd_json_lines_poll(program->lines).fd};
  return poll(&socket, 1, 0) == 1 && (socket.revents & POLLHUP) != 0;
}

void rd_hop_program_ended(struct rd_hop_program *program) {
  program->pid = -1;
  rd_hop_program_drain(program);
}

void rd_hop_program_drain(struct rd_hop_program *program) {
  struct rd_error why;
  json_t *event;
  enum rd_outcome got = RD_OUTCOME_AGAIN;
  while (program->watch != NULL && (got = rd_json_lines_next(program->lines, &event, &why)) == RD_OUTCOME_DONE)
    hand_over(program, event);
  if (got == RD_OUTCOME_FAILED) stop_reading(program, why.code != RD_CODE_ABORTED);
  watch_again(program);
}

static pid_t execute(struct rd_agent *agent, const struct rd_hop_program_setup *setup, int agent_fd,
                     struct rd_error *error) {
  char path[PATH_MAX], number[8];
  // The static program has the OpenSSL that rdpipe came with, which may encrypt faster than that of the host.
  bool found = setup->rdma ? rd_program_paths_find("rdhop", path, sizeof path, error)
                           : rd_program_paths_find_static("rdhop", path, sizeof path, error);
  if (!found) return -1;
  snprintf(number, sizeof number, "%d", AGENT_FD);
  // An emulator of another CPU may replace the first word by the file's path.
  char file[] = "rdhop", name[8], option[] = "--agent-fd";
  snprintf(name, sizeof name, "%s", rd_hop_program_name(setup->side));
  char *arguments[] = {file, name, option, number, NULL};
  bool sends = setup->side == RD_SIDE_SEND;
  struct rd_spawning spawning = {
      .file = path,
      .arguments = arguments,
      .fds = {sends ? setup->data_fd : agent->null_fd, sends ? agent->null_fd : setup->data_fd, STDERR_FILENO, agent_fd,
              setup->adopt_fd, setup->relay.memory, setup->relay.bell, setup->ring.memory, setup->ring.bell},
      .fd_count = setup->ring.memory >= 0    ? RD_HOP_PROGRAM_RING_FDS + 2
                  : setup->relay.memory >= 0 ? RD_HOP_PROGRAM_RELAY_FDS + 2
                  : setup->adopt_fd >= 0     ? RD_HOP_PROGRAM_ADOPT_FD + 1
                                             : AGENT_FD + 1,
  };
  for (size_t i = 0; i < spawning.fd_count; i++)
    if (spawning.fds[i] < 0) spawning.fds[i] = agent->null_fd;
  return rd_spawn(&spawning, error);
}

static void on_ready(void *context, short ready) {
  (void)ready;
  rd_hop_program_drain(context);
}

static void hand_over(struct rd_hop_program *program, json_t *event) {
  if (json_is_string(json_object_get(event, "event")))
    program->function(program->context, event);
  else
    stop_reading(program, true);
  json_decref(event);
}

// The program's exit reports the failure. A program that sends an invalid message is broken and is killed.
static void stop_reading(struct rd_hop_program *program, bool broken) {
  if (broken && program->pid > 0) kill(program->pid, SIGKILL);
  rd_watch_end(&program->watch);
}

static void watch_again(struct rd_hop_program *program) {
  if (program->watch != NULL) rd_watch_change(program->watch, rd_json_lines_poll(program->lines).events);
}
