// SPDX-License-Identifier: Apache-2.0
// The agent's events as JSON objects (docs/protocol/agent.md, section 2.2).
// Each function returns a reference that the caller owns.
#ifndef RD_STAGE_EVENT_H
#define RD_STAGE_EVENT_H

#include "base/error.h"
#include "base/usage.h"
#include "protocol/prepare.h"

#include <jansson.h>
#include <sys/types.h>

json_t *rd_event_plain(const char *name); // {"event": name}
json_t *rd_event_segment(const char *name, unsigned segment);
json_t *rd_event_started(unsigned stage, pid_t pid);
// Returns a complete line, which the caller frees. Building it from JSON values took ten times as long, and stages may
// write much.
char *rd_event_stderr_line(unsigned stage, const unsigned char *bytes, size_t count);
// `stage` 0: the failure belongs to no stage.
json_t *rd_event_failed(unsigned stage, enum rd_code code, const char *message);
json_t *rd_event_left_behind(pid_t pid, const char *command);

struct rd_exit_event {
  unsigned stage;
  int status; // as from wait()
  bool stopped, consumer_closed;
  struct rd_usage usage;
};
json_t *rd_event_exited(const struct rd_exit_event *exited);

struct rd_link_end_event {
  const char *result, *code, *message;
  int status;
  int64_t bytes, wire_bytes;
  struct rd_usage usage; // of the end's program
};
json_t *rd_event_link_ended(int64_t link, enum rd_hop_side side, const struct rd_link_end_event *ended);

#endif
