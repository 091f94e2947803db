// SPDX-License-Identifier: Apache-2.0
#include "agent/agent_control.h"

#include "agent/commands.h"
#include "agent/event_json.h"
#include "base/json_lines.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

#define FINISH_MS 5000

struct agent_control {
  struct rd_control control;
  struct rd_json_lines *lines;
  int stdio_fd;
  bool lost; // and RD_COMMAND_LOST was returned
};

static struct pollfd poll_agent(const struct rd_control *control);
static bool next_command(struct rd_control *control, struct rd_command *command);
static bool agent_lost(struct agent_control *agent, const struct rd_error *error, struct rd_command *command);
static void emit_agent(struct rd_control *control, const struct rd_event *event);

static const struct rd_control_ops agent_ops = {poll_agent, next_command, emit_agent};

struct rd_control *rd_agent_control_create(int fd, int stdio_fd, struct rd_error *error) {
  struct rd_json_lines *lines = rd_json_lines_create(fd, error);
  if (lines == NULL) return NULL;
  struct agent_control *agent = rd_memory_new(1, sizeof *agent);
  *agent = (struct agent_control){.control = {.ops = &agent_ops, .due = true}, .lines = lines, .stdio_fd = stdio_fd};
  return &agent->control;
}

void rd_agent_control_destroy(struct rd_control *control) {
  struct agent_control *agent = (struct agent_control *)control;
  if (agent == NULL) return;
  rd_json_lines_destroy(agent->lines);
  free(agent);
}

static struct pollfd poll_agent(const struct rd_control *control) {
  return rd_json_lines_poll(((const struct agent_control *)control)->lines);
}

static bool next_command(struct rd_control *control, struct rd_command *command) {
  struct agent_control *agent = (struct agent_control *)control;
  struct rd_error error;
  json_t *message;
  if (!control->due) return false;
  enum rd_outcome received = rd_json_lines_next(agent->lines, &message, &error);
  control->due = received != RD_OUTCOME_AGAIN;
  if (received == RD_OUTCOME_AGAIN) return false;
  if (received == RD_OUTCOME_FAILED) return agent_lost(agent, &error, command);
  bool good = rd_agent_command_decode(message, command, &error);
  json_decref(message);
  if (!good) {
    *command = (struct rd_command){.type = RD_COMMAND_ABORT, .code = error.code};
    snprintf(command->reason, sizeof command->reason, "%s", error.message);
  }
  if (command->type == RD_COMMAND_READY) command->fd = agent->stdio_fd;
  return true;
}

// Returns RD_COMMAND_LOST once.
static bool agent_lost(struct agent_control *agent, const struct rd_error *error, struct rd_command *command) {
  if (agent->lost) return false;
  agent->lost = true;
  *command = (struct rd_command){.type = RD_COMMAND_LOST, .code = error->code};
  snprintf(command->reason, sizeof command->reason, "%s", error->message);
  return true;
}

static void emit_agent(struct rd_control *control, const struct rd_event *event) {
  struct agent_control *agent = (struct agent_control *)control;
  control->due = true;
  if (event->type == RD_EVENT_REJECTED) return; // unauthenticated connections do not affect the run
  json_t *message = rd_event_to_json(event);
  if (message == NULL) return;
  rd_json_lines_put(agent->lines, message, event->type == RD_EVENT_COUNTERS);
  if (event->type == RD_EVENT_FINISHED) rd_json_lines_drain(agent->lines, FINISH_MS);
}
