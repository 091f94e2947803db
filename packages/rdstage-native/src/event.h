// SPDX-License-Identifier: Apache-2.0
// What the agent tells (docs/protocol.md, section 2.2), as JSON objects. Each is the caller's to give away.
#ifndef RD_STAGE_EVENT_H
#define RD_STAGE_EVENT_H

#include "error.h"
#include "prepare.h"
#include "usage.h"

#include <jansson.h>
#include <sys/types.h>

json_t *event_plain(const char *name); // {"event": name}
json_t *event_segment(const char *name, unsigned segment);
json_t *event_started(unsigned stage, pid_t pid);
// A whole line, which the caller frees: to make it of JSON values took ten times as long, and stages may say much.
char *event_stderr_line(unsigned stage, const unsigned char *bytes, size_t count);
// `stage` 0: none.
json_t *event_failed(unsigned stage, enum rd_code code, const char *message);
json_t *event_left_behind(pid_t pid, const char *command);

struct exit_event {
  unsigned stage;
  int status; // as wait() gives it
  bool stopped, consumer_closed;
  struct rd_usage usage;
};
json_t *event_exited(const struct exit_event *exited);

struct link_end_event {
  const char *result, *code, *message;
  int status;
  int64_t bytes, wire_bytes;
  struct rd_usage usage; // of its program
};
json_t *event_link_ended(int64_t link, enum hop_side end, const struct link_end_event *ended);

#endif
