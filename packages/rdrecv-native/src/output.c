// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "sandbox/sandbox.h"

#include <fcntl.h>

#define KILL_MS 10000
#define HELD_MS 1000

static bool take_ring(struct rd_output *output, const struct rd_command *command, struct rd_error *error);
static bool open_sink(struct rd_output *output, const struct rd_command *command, struct rd_error *error);
static struct rd_sink *new_sink(struct rd_output *output, const struct rd_command *command, struct rd_error *error);
static void hold(struct rd_output *output, bool asks);
static void show(struct rd_output *output);
static void set_reader(struct rd_output *output, pid_t pid);
static void lose_control(struct rd_output *output, bool is_delivered);
static bool next_command(const struct rd_output *output, int64_t until_ms, struct rd_command *command);
static void emit(const struct rd_output *output, enum rd_event_type type);

void rd_output_init(struct rd_output *output, struct rd_control *control) {
  *output = (struct rd_output){.control = control, .reader = RD_NO_PROCESS_GROUP, .fd = -1, .watch_fd = -1};
}

bool rd_output_clear(struct rd_output *output) {
  if (output->writer != NULL && !rd_writer_stop(output->writer)) return false;
  rd_writer_destroy(output->writer);
  rd_sink_destroy(output->sink);
  rd_shared_ring_destroy(output->shared);
  return true;
}

bool rd_output_handle_command(struct rd_output *output, const struct rd_command *command, bool is_delivered,
                              struct rd_error *error) {
  switch (command->type) {
  case RD_COMMAND_RING:
    return take_ring(output, command, error);
  case RD_COMMAND_READY:
    hold(output, command->asks);
    return open_sink(output, command, error);
  case RD_COMMAND_FILE:
    return open_sink(output, command, error);
  case RD_COMMAND_READER:
    set_reader(output, command->pid);
    return true;
  case RD_COMMAND_LOST:
    lose_control(output, is_delivered);
    return true;
  case RD_COMMAND_SHOW:
    show(output);
    return true;
  default:
    return true;
  }
}

bool rd_output_attach(struct rd_output *output, unsigned slots, const struct rd_signing *signing,
                      struct rd_error *error) {
  if (output->writer != NULL) return true;
  struct rd_stream_check *check = signing != NULL ? rd_stream_check_create(signing, error) : NULL;
  if (signing != NULL && check == NULL) return false;
  output->writer = rd_writer_create(slots, check, error);
  return output->writer != NULL;
}

bool rd_output_begin(struct rd_output *output, bool any, bool ended, struct rd_error *error) {
  if (output->writer == NULL || output->sink == NULL) return true;
  if (output->state == RD_OUTPUT_HELD && any) {
    output->state = RD_OUTPUT_ASKED;
    output->asked_at_ms = rd_now_ms();
    emit(output, RD_EVENT_OUTPUT);
  }
  bool is_late = output->state == RD_OUTPUT_ASKED && rd_output_timeout_ms(output) == 0;
  if (is_late || (output->state == RD_OUTPUT_HELD && ended)) show(output);
  if (output->state != RD_OUTPUT_FREE) return true;
  output->state = RD_OUTPUT_WRITING;
  return rd_writer_begin(output->writer, output->sink, error);
}

int rd_output_timeout_ms(const struct rd_output *output) {
  if (output->state != RD_OUTPUT_ASKED) return -1;
  int64_t left_ms = output->asked_at_ms + HELD_MS - rd_now_ms();
  return left_ms > 0 ? (int)left_ms : 0;
}

void rd_output_write_held(struct rd_output *output) {
  struct rd_command command;
  struct rd_error ignored;
  if (output->asked_at_ms == 0) return;
  while (output->state == RD_OUTPUT_ASKED && next_command(output, output->asked_at_ms + HELD_MS, &command)) {
    if (command.type == RD_COMMAND_LOST) output->control_lost = true;
    if (command.type == RD_COMMAND_LOST || command.type == RD_COMMAND_SHOW) show(output);
  }
  show(output);
  if (!rd_output_begin(output, true, true, &ignored)) return;
  int64_t until_ms = rd_now_ms() + HELD_MS, left_ms;
  while (rd_writer_pending(output->writer) > 0 && rd_writer_state(output->writer, &ignored) == RD_WRITER_WRITING &&
         (left_ms = until_ms - rd_now_ms()) > 0) {
    struct pollfd news = rd_writer_poll(output->writer);
    poll(&news, 1, (int)left_ms);
    rd_writer_woken(output->writer);
  }
}

// The descriptor number stays in use, so that no other file gets it.
void rd_output_close(const struct rd_output *output) {
  if (output->fd < 0) return;
  RD_AUTO_CLOSE int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null_fd < 0 || dup3(null_fd, output->fd, O_CLOEXEC) < 0) close(output->fd);
}

void rd_output_wait_for_release(struct rd_output *output) {
  struct rd_command command;
  while (!output->control_lost && next_command(output, INT64_MAX, &command)) {
    if (command.type == RD_COMMAND_READER) set_reader(output, command.pid);
    if (command.type == RD_COMMAND_LOST) lose_control(output, false);
    if (command.type == RD_COMMAND_RELEASE) return;
  }
}

static bool take_ring(struct rd_output *output, const struct rd_command *command, struct rd_error *error) {
  rd_shared_ring_destroy(output->shared);
  output->shared = rd_shared_ring_open(RD_RING_WRITER, command->ring_fds, error);
  return output->shared != NULL;
}

// Ignores a sink that arrives after the writer has begun.
static bool open_sink(struct rd_output *output, const struct rd_command *command, struct rd_error *error) {
  bool is_file = command->type == RD_COMMAND_FILE, is_late = output->state == RD_OUTPUT_WRITING;
  struct rd_sink *sink = new_sink(output, command, error);
  if (sink == NULL) return false;
  rd_sink_destroy(is_late ? sink : output->sink);
  if (is_late) return true;
  output->sink = sink;
  output->fd = is_file ? -1 : command->fd;
  output->watch_fd = rd_sink_watch_fd(sink);
  rd_sandbox_close(is_file ? command->path : NULL, rd_sink_directory_fd(sink));
  emit(output, RD_EVENT_READY);
  return true;
}

static struct rd_sink *new_sink(struct rd_output *output, const struct rd_command *command, struct rd_error *error) {
  if (command->type == RD_COMMAND_FILE) return rd_sink_open(command->path, command->append, error);
  struct rd_shared_ring *shared = output->shared;
  output->shared = NULL;
  return shared != NULL ? rd_sink_from_ring(command->fd, shared, error) : rd_sink_from_fd(command->fd);
}

static void hold(struct rd_output *output, bool asks) {
  if (output->state == RD_OUTPUT_WRITING) return;
  output->state = !asks ? RD_OUTPUT_FREE : output->asked_at_ms > 0 ? RD_OUTPUT_ASKED : RD_OUTPUT_HELD;
}

static void show(struct rd_output *output) {
  if (output->state != RD_OUTPUT_WRITING) output->state = RD_OUTPUT_FREE;
}

static void set_reader(struct rd_output *output, pid_t pid) {
  rd_process_group_forget(&output->reader);
  output->reader = rd_process_group_of(pid);
}

// The reader must not mistake the end of its input for the end of the stream, unless the stream was delivered.
static void lose_control(struct rd_output *output, bool is_delivered) {
  output->control_lost = true;
  show(output);
  if (!is_delivered) rd_process_group_kill(&output->reader, KILL_MS);
}

// Waits for the next command. Returns false if none arrived in time.
static bool next_command(const struct rd_output *output, int64_t until_ms, struct rd_command *command) {
  struct rd_control *control = output->control;
  while (!control->ops->next(control, command)) {
    struct pollfd commands = control->ops->poll(control);
    int64_t left_ms = until_ms - rd_now_ms();
    if (left_ms <= 0 || poll(&commands, 1, left_ms > INT_MAX ? -1 : (int)left_ms) == 0) return false;
    control->due = true;
  }
  return true;
}

static void emit(const struct rd_output *output, enum rd_event_type type) {
  struct rd_event event = {.type = type};
  output->control->ops->emit(output->control, &event);
}
