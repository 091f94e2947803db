// SPDX-License-Identifier: Apache-2.0
#include "run/stage.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "base/program_paths.h"
#include "base/settings_file.h"
#include "base/spawn.h"
#include "protocol/event.h"
#include "run/part_environment.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILL_AGAIN_MS 50

// SIGPIPE comes first, as from a write; an idle producer never writes.
static const struct {
  int64_t after_ms;
  int signal;
} nudges[] = {{500, SIGPIPE}, {1000, SIGTERM}, {2000, SIGKILL}};

static bool is_as_by_ssh(const struct rd_stage_spec *spec);
static pid_t execute(struct rd_stage *stage, const struct rd_stage_fds *fds, struct rd_error *error);
static pid_t start_command(const struct rd_stage_spec *spec, struct rd_spawning *spawning, struct rd_error *error);
static pid_t start_in_login_shell(const struct rd_stage_spec *spec, struct rd_spawning *spawning,
                                  struct rd_error *error);
static pid_t start_tree(const struct rd_stage *stage, struct rd_spawning *spawning, const struct rd_stage_fds *fds,
                        struct rd_error *error);
static pid_t start_forward(struct rd_spawning *spawning, struct rd_error *error);
static pid_t start_gather(const struct rd_stage_spec *spec, struct rd_spawning *spawning, const int *inputs,
                          struct rd_error *error);
static char *script_of(const char *command);
static bool is_bash(const char *shell);
static void fail(struct rd_stage *stage, const struct rd_error *error);
static void emit_output(const struct rd_stage *stage, bool well, int status);
static void on_stderr_ended(void *context);
static bool ended_well(const struct rd_stage *stage, int status);
static int shell_status(int status);
static void schedule_nudge(struct rd_stage *stage);
static void on_nudge(void *context);
static void kill_all(void *context);
static void signal_group(const struct rd_stage *stage, int number);

struct rd_stage *rd_stage_create(struct rd_agent *agent, const struct rd_stage_spec *spec, bool lenient,
                                 const struct rd_stage_handler *handler) {
  struct rd_stage *stage = rd_memory_new(1, sizeof *stage);
  stage->agent = agent;
  stage->spec = spec;
  stage->lenient = lenient;
  stage->handler = *handler;
  stage->pid = -1;
  return stage;
}

void rd_stage_destroy(struct rd_stage *stage) {
  if (stage == NULL) return;
  rd_loop_timer_stop(stage->agent->loop, &stage->nudge);
  rd_loop_timer_stop(stage->agent->loop, &stage->kill_again);
  rd_stderr_relay_destroy(stage->relay);
  free(stage);
}

bool rd_stage_start(struct rd_stage *stage, const struct rd_stage_fds *fds) {
  struct rd_error error;
  stage->pid = execute(stage, fds, &error);
  if (stage->pid < 0) {
    fail(stage, &error);
    return false;
  }
  stage->state = RD_STAGE_RUNNING;
  stage->sweep = (struct rd_process_tree_sweep){.root = stage->pid, .is_group = true};
  if (stage->spec->kind == RD_STAGE_TREE || stage->spec->kind == RD_STAGE_FORWARD)
    stage->sweep.cleaners[stage->sweep.cleaner_count++] = stage->pid;
  rd_control_line_emit(stage->agent->control, rd_event_started(stage->spec->number, stage->pid));
  return true;
}

void rd_stage_reaped(struct rd_stage *stage, int status, const struct rd_usage *usage) {
  stage->state = RD_STAGE_ENDED;
  rd_loop_timer_stop(stage->agent->loop, &stage->nudge);
  if (!stage->output.is_read(stage->output.context)) stage->consumer_closed = true;
  struct rd_exit_event exited = {.stage = stage->spec->number,
                                 .status = status,
                                 .stopped = stage->stopped,
                                 .consumer_closed = stage->consumer_closed,
                                 .usage = *usage};
  rd_stderr_relay_take(stage->relay); // its output goes before its exit
  rd_control_line_emit(stage->agent->control, rd_event_exited(&exited));
  // Without a reader its exit status makes no difference.
  if (!stage->consumer_closed) emit_output(stage, ended_well(stage, status), shell_status(status));
  stage->handler.changed(stage->handler.context);
}

void rd_stage_consumer_gone(struct rd_stage *stage) {
  if (stage->state != RD_STAGE_RUNNING || stage->consumer_closed) return;
  stage->consumer_closed = true;
  if (!is_as_by_ssh(stage->spec)) schedule_nudge(stage);
}

// sshd sends no signal to a command whose output has no reader: the command ends when it writes, or completes silently.
static bool is_as_by_ssh(const struct rd_stage_spec *spec) {
  return spec->kind == RD_STAGE_COMMAND && spec->shell == NULL;
}

void rd_stage_stop(struct rd_stage *stage) {
  if (stage->state == RD_STAGE_WAITING) {
    stage->state = RD_STAGE_ENDED;
    emit_output(stage, false, 128 + SIGKILL);
  }
  rd_stage_mark_stopped(stage);
  kill_all(stage);
}

void rd_stage_kill_remaining(const struct rd_stage *stage) {
  struct rd_process_list list;
  struct rd_error ignored; // if /proc cannot be read, they cannot be found
  if (stage->nudges == 0 || !rd_process_list_below(getpid(), &list, &ignored)) return;
  for (size_t i = 0; i < list.count; i++) {
    pid_t pid = list.items[i].pid;
    if (list.items[i].group != stage->pid || rd_process_signal(&list.items[i], SIGKILL) != EPERM) continue;
    char command[200];
    rd_process_command(pid, command, sizeof command);
    rd_control_line_emit(stage->agent->control, rd_event_left_behind(pid, command));
  }
  rd_process_list_clear(&list);
}

void rd_stage_mark_stopped(struct rd_stage *stage) {
  if (stage->state == RD_STAGE_RUNNING && !rd_spawn_is_dead(stage->pid)) stage->stopped = true;
}

static pid_t execute(struct rd_stage *stage, const struct rd_stage_fds *fds, struct rd_error *error) {
  RD_AUTO_CLOSE int error_fd = -1;
  stage->relay = rd_stderr_relay_create(stage->agent, stage->spec->number, &error_fd, on_stderr_ended, stage, error);
  if (stage->relay == NULL) return -1;
  struct rd_spawning spawning = {.fds = {fds->in, fds->out, error_fd}, .fd_count = 3, .group = RD_SPAWN_GROUP_OWN};
  if (stage->spec->kind == RD_STAGE_TREE) return start_tree(stage, &spawning, fds, error);
  if (stage->spec->kind == RD_STAGE_FORWARD) return start_forward(&spawning, error);
  if (stage->spec->kind == RD_STAGE_GATHER) return start_gather(stage->spec, &spawning, fds->inputs, error);
  spawning.before_exec = rd_stage_limits_set;
  spawning.context = &stage->agent->limits;
  return start_command(stage->spec, &spawning, error);
}

static pid_t start_command(const struct rd_stage_spec *spec, struct rd_spawning *spawning, struct rd_error *error) {
  rd_part_environment_set(spec);
  if (spec->shell == NULL) return start_in_login_shell(spec, spawning, error);
  RD_AUTO_FREE char *script = script_of(spec->text);
  char option[] = "-c", pipefail[] = "pipefail", set[] = "-o";
  char *plain[] = {spec->shell, option, script, NULL};
  char *bash[] = {spec->shell, set, pipefail, option, script, NULL};
  spawning->file = spec->shell;
  spawning->arguments = is_bash(spec->shell) ? bash : plain;
  return rd_spawn(spawning, error);
}

// Does as sshd does: the command unchanged, the shell under the name of its file. sshd put its path into the
// environment.
static pid_t start_in_login_shell(const struct rd_stage_spec *spec, struct rd_spawning *spawning,
                                  struct rd_error *error) {
  char *shell = getenv("SHELL"), plain[] = "/bin/sh", option[] = "-c";
  if (shell == NULL || *shell != '/') shell = plain;
  char *arguments[] = {strrchr(shell, '/') + 1, option, spec->text, NULL};
  spawning->file = shell;
  spawning->arguments = arguments;
  return rd_spawn(spawning, error);
}

// Keeps the agent's limits: those of the user's commands do not suit rdtree, which opens many files at a time.
static pid_t start_tree(const struct rd_stage *stage, struct rd_spawning *spawning, const struct rd_stage_fds *fds,
                        struct rd_error *error) {
  const struct rd_served *served = &stage->agent->served;
  bool is_served = rd_served_is(served), has_ring = fds->ring.memory >= 0;
  char program[PATH_MAX], option[] = "--settings-fd", number[] = "3", beneath[] = "--beneath", root[] = "4";
  char ring[] = "--ring", memory[] = {is_served ? '5' : '4', '\0'};
  char *arguments[8] = {program, option, number};
  size_t count = 3;
  if (!rd_program_paths_find("rdtree", program, sizeof program, error)) return -1;
  RD_AUTO_CLOSE int settings_fd = rd_settings_file_create(stage->spec->settings, "rdtree", error);
  if (settings_fd < 0) return -1;
  spawning->file = program;
  spawning->arguments = arguments;
  spawning->fds[spawning->fd_count++] = settings_fd; // 3
  if (is_served) {
    arguments[count++] = beneath;
    arguments[count++] = root;
    spawning->fds[spawning->fd_count++] = served->directory_fd; // 4
  }
  if (has_ring) {
    arguments[count++] = ring;
    arguments[count++] = memory;
    spawning->fds[spawning->fd_count++] = fds->ring.memory;
    spawning->fds[spawning->fd_count++] = fds->ring.bell;
  }
  spawning->more_fds = fds->inputs; // from 4: such a stage has no ring, and a served session has no such stage
  spawning->more_count = stage->spec->in_count;
  return rd_spawn(spawning, error);
}

// Keeps the agent's limits as well: every connection takes a descriptor.
static pid_t start_forward(struct rd_spawning *spawning, struct rd_error *error) {
  char program[PATH_MAX], role[] = "rdforward", option[] = "--far";
  char *arguments[] = {program, role, option, NULL};
  if (!rd_program_paths_find("rdhop", program, sizeof program, error)) return -1;
  spawning->file = program;
  spawning->arguments = arguments;
  return rd_spawn(spawning, error);
}

static pid_t start_gather(const struct rd_stage_spec *spec, struct rd_spawning *spawning, const int *inputs,
                          struct rd_error *error) {
  char program[PATH_MAX], role[] = "rdgather", count[16];
  const json_t *labels = json_object_get(spec->settings, "labels");
  size_t label_count = json_array_size(labels), fixed = 4;
  if (!rd_program_paths_find("rdhop", program, sizeof program, error)) return -1;
  snprintf(count, sizeof count, "%zu", spec->in_count);
  RD_AUTO_FREE char **arguments = rd_memory_new(fixed + label_count + 1, sizeof *arguments);
  const char *mode = json_string_value(json_object_get(spec->settings, "mode"));
  arguments[0] = program;
  arguments[1] = role;
  arguments[2] = (char *)(uintptr_t)mode; // execvp() changes none of them
  arguments[3] = count;
  for (size_t i = 0; i < label_count; i++)
    arguments[fixed + i] = (char *)(uintptr_t)json_string_value(json_array_get(labels, i));
  spawning->file = program;
  spawning->arguments = arguments;
  spawning->more_fds = inputs;
  spawning->more_count = spec->in_count;
  return rd_spawn(spawning, error);
}

// A shell would parse a command that begins with - or + as an option.
static char *script_of(const char *command) {
  size_t bytes = strlen(command) + 2;
  char *script = rd_memory_new(bytes, 1);
  snprintf(script, bytes, "%s%s", *command == '-' || *command == '+' ? " " : "", command);
  return script;
}

static bool is_bash(const char *shell) {
  const char *name = strrchr(shell, '/');
  return strcmp(name != NULL ? name + 1 : shell, "bash") == 0;
}

static void fail(struct rd_stage *stage, const struct rd_error *error) {
  stage->state = RD_STAGE_ENDED;
  rd_control_line_emit(stage->agent->control, rd_event_failed(stage->spec->number, error->code, error->message));
  emit_output(stage, false, 127);
}

static void emit_output(const struct rd_stage *stage, bool well, int status) {
  stage->output.ended(stage->output.context, well, status);
}

static void on_stderr_ended(void *context) {
  struct rd_stage *stage = context;
  stage->handler.changed(stage->handler.context);
}

static bool ended_well(const struct rd_stage *stage, int status) {
  if (stage->stopped) return false;
  return stage->lenient || (WIFEXITED(status) && stage->spec->ok[WEXITSTATUS(status)]);
}

static int shell_status(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void schedule_nudge(struct rd_stage *stage) {
  if (stage->nudges < sizeof nudges / sizeof *nudges)
    rd_loop_timer(stage->agent->loop, &stage->nudge, nudges[stage->nudges].after_ms, on_nudge, stage);
}

// Time during which the run is suspended does not count.
static void on_nudge(void *context) {
  struct rd_stage *stage = context;
  if (!stage->agent->suspended) {
    int number = nudges[stage->nudges++].signal;
    if (number == SIGKILL)
      kill_all(stage);
    else
      signal_group(stage, number);
  }
  schedule_nudge(stage);
}

// Repeats itself: the processes may start more, and other users' processes get TERM first.
static void kill_all(void *context) {
  struct rd_stage *stage = context;
  if (stage->state != RD_STAGE_RUNNING) return;
  struct rd_error ignored; // without /proc the group is still signalled
  ssize_t left = rd_process_tree_sweep(&stage->sweep, &ignored);
  if (left < 0) signal_group(stage, SIGKILL);
  if (left != 0) rd_loop_timer(stage->agent->loop, &stage->kill_again, KILL_AGAIN_MS, kill_all, stage);
}

// In this state the leader may be dead but not reaped yet: until it is reaped, no other group has its number.
static void signal_group(const struct rd_stage *stage, int number) {
  if (stage->state == RD_STAGE_RUNNING) kill(-stage->pid, number);
}
