// SPDX-License-Identifier: Apache-2.0
#include "stage.h"

#include "cleanup.h"
#include "event.h"
#include "memory.h"
#include "spawn.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILL_AGAIN_MS 50

static pid_t execute(struct stage *stage, int in_fd, int out_fd, struct rd_error *error);
static char *script_of(const char *command);
static bool is_bash(const char *shell);
static void fail(struct stage *stage, const struct rd_error *error);
static void emit_output(const struct stage *stage, bool well, int status);
static void on_stderr_ended(void *context);
static bool ended_well(const struct stage *stage, int status);
static int shell_status(int status);
static void schedule_nudge(struct stage *stage);
static void on_nudge(void *context);
static void kill_all(void *context);
static void signal_group(const struct stage *stage, int number);

struct stage *stage_create(struct agent *agent, const struct stage_spec *spec, bool lenient,
                           const struct stage_handler *handler) {
  struct stage *stage = memory_new(1, sizeof *stage);
  stage->agent = agent;
  stage->spec = spec;
  stage->lenient = lenient;
  stage->handler = *handler;
  stage->pid = -1;
  return stage;
}

void stage_destroy(struct stage *stage) {
  if (!stage) return;
  loop_timer_stop(stage->agent->loop, &stage->nudge);
  loop_timer_stop(stage->agent->loop, &stage->kill_again);
  stderr_relay_destroy(stage->relay);
  free(stage);
}

bool stage_start(struct stage *stage, int in_fd, int out_fd) {
  struct rd_error error;
  stage->pid = execute(stage, in_fd, out_fd, &error);
  if (stage->pid < 0) {
    fail(stage, &error);
    return false;
  }
  stage->state = STAGE_RUNNING;
  stage->sweep = (struct tree_sweep){.root = stage->pid, .is_group = true};
  control_emit(stage->agent->control, event_started(stage->spec->number, stage->pid));
  return true;
}

void stage_reaped(struct stage *stage, int status, const struct rd_usage *usage) {
  stage->state = STAGE_ENDED;
  loop_timer_stop(stage->agent->loop, &stage->nudge);
  if (!stage->output.is_read(stage->output.context)) stage->consumer_closed = true;
  struct exit_event exited = {.stage = stage->spec->number,
                              .status = status,
                              .stopped = stage->stopped,
                              .consumer_closed = stage->consumer_closed,
                              .usage = *usage};
  stderr_relay_take(stage->relay); // its last words come before its end
  control_emit(stage->agent->control, event_exited(&exited));
  // Where nobody reads any more it makes no difference how it ended.
  if (!stage->consumer_closed) emit_output(stage, ended_well(stage, status), shell_status(status));
  stage->handler.changed(stage->handler.context);
}

void stage_consumer_gone(struct stage *stage) {
  if (stage->state != STAGE_RUNNING || stage->consumer_closed) return;
  stage->consumer_closed = true;
  schedule_nudge(stage);
}

void stage_stop(struct stage *stage) {
  if (stage->state == STAGE_WAITING) {
    stage->state = STAGE_ENDED;
    emit_output(stage, false, 128 + SIGKILL);
  }
  stage_mark_stopped(stage);
  kill_all(stage);
}

void stage_end_rest(const struct stage *stage) {
  struct process_list list;
  struct rd_error ignored; // where /proc cannot be read, nobody knows of them
  if (stage->nudges == 0 || !process_list_below(getpid(), &list, &ignored)) return;
  for (size_t i = 0; i < list.count; i++) {
    pid_t pid = list.items[i].pid;
    if (list.items[i].group != stage->pid || process_signal(&list.items[i], SIGKILL) != EPERM) continue;
    char command[200];
    process_command(pid, command, sizeof command);
    control_emit(stage->agent->control, event_left_behind(pid, command));
  }
  process_list_clear(&list);
}

void stage_mark_stopped(struct stage *stage) {
  if (stage->state == STAGE_RUNNING && !spawn_is_dead(stage->pid)) stage->stopped = true;
}

static pid_t execute(struct stage *stage, int in_fd, int out_fd, struct rd_error *error) {
  RD_AUTO_CLOSE int error_fd = -1;
  stage->relay = stderr_relay_create(stage->agent, stage->spec->number, &error_fd, on_stderr_ended, stage, error);
  if (!stage->relay) return -1;
  RD_AUTO_FREE char *script = script_of(stage->spec->text);
  char option[] = "-c", pipefail[] = "pipefail", set[] = "-o";
  char *plain[] = {stage->spec->shell, option, script, NULL};
  char *bash[] = {stage->spec->shell, set, pipefail, option, script, NULL};
  struct spawning spawning = {
      .file = stage->spec->shell,
      .arguments = is_bash(stage->spec->shell) ? bash : plain,
      .fds = {in_fd, out_fd, error_fd},
      .fd_count = 3,
      .group = SPAWN_GROUP_OWN,
      .limits = stage->agent->limits,
  };
  return spawn(&spawning, error);
}

// A shell would take a command that begins like an option for one.
static char *script_of(const char *command) {
  size_t bytes = strlen(command) + 2;
  char *script = memory_new(bytes, 1);
  snprintf(script, bytes, "%s%s", *command == '-' || *command == '+' ? " " : "", command);
  return script;
}

static bool is_bash(const char *shell) {
  const char *name = strrchr(shell, '/');
  return strcmp(name ? name + 1 : shell, "bash") == 0;
}

static void fail(struct stage *stage, const struct rd_error *error) {
  stage->state = STAGE_ENDED;
  control_emit(stage->agent->control, event_failed(stage->spec->number, error->code, error->message));
  emit_output(stage, false, 127);
}

static void emit_output(const struct stage *stage, bool well, int status) {
  stage->output.ended(stage->output.context, well, status);
}

static void on_stderr_ended(void *context) {
  struct stage *stage = context;
  stage->handler.changed(stage->handler.context);
}

static bool ended_well(const struct stage *stage, int status) {
  if (stage->stopped) return false;
  return stage->lenient || (WIFEXITED(status) && stage->spec->ok[WEXITSTATUS(status)]);
}

static int shell_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// SIGPIPE first, as a write would give it; an idle producer never writes.
static const struct {
  int64_t after_ms;
  int signal;
} nudges[] = {{500, SIGPIPE}, {1000, SIGTERM}, {2000, SIGKILL}};

static void schedule_nudge(struct stage *stage) {
  if (stage->nudges < sizeof nudges / sizeof *nudges)
    loop_timer(stage->agent->loop, &stage->nudge, nudges[stage->nudges].after_ms, on_nudge, stage);
}

// Time during which everything stands still does not count.
static void on_nudge(void *context) {
  struct stage *stage = context;
  if (!stage->agent->suspended) {
    int number = nudges[stage->nudges++].signal;
    if (number == SIGKILL)
      kill_all(stage);
    else
      signal_group(stage, number);
  }
  schedule_nudge(stage);
}

// Again and again: what it started may start more, and may have to be asked first.
static void kill_all(void *context) {
  struct stage *stage = context;
  if (stage->state != STAGE_RUNNING) return;
  struct rd_error ignored; // without /proc there is still the group
  ssize_t left = tree_sweep(&stage->sweep, &ignored);
  if (left < 0) signal_group(stage, SIGKILL);
  if (left != 0) loop_timer(stage->agent->loop, &stage->kill_again, KILL_AGAIN_MS, kill_all, stage);
}

// While it is running here, its leader may be dead but was not waited for: until then no other group has its number.
static void signal_group(const struct stage *stage, int number) {
  if (stage->state == STAGE_RUNNING) kill(-stage->pid, number);
}
