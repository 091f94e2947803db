// SPDX-License-Identifier: Apache-2.0
#include "protocol/event.h"

#include "base/hex.h"
#include "base/memory.h"
#include "runtime/json_made.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static json_t *with_usage(json_t *event, const struct rd_usage *usage);

json_t *rd_event_plain(const char *name) {
  return rd_json_made(json_pack("{s:s}", "event", name));
}

json_t *rd_event_segment(const char *name, unsigned segment) {
  return rd_json_made(json_pack("{s:s,s:I}", "event", name, "segment", (json_int_t)segment));
}

json_t *rd_event_started(unsigned stage, pid_t pid) {
  return rd_json_made(json_pack("{s:s,s:I,s:i}", "event", "started", "stage", (json_int_t)stage, "pid", (int)pid));
}

char *rd_event_stderr_line(unsigned stage, const unsigned char *bytes, size_t count) {
  char begin[64];
  size_t begin_bytes = (size_t)snprintf(begin, sizeof begin, "{\"event\":\"stderr\",\"stage\":%u,\"data\":\"", stage);
  size_t digits_bytes = 2 * count + 1;
  char *line = rd_memory_new(begin_bytes + digits_bytes + sizeof "\"}", 1);
  memcpy(line, begin, begin_bytes);
  rd_hex_encode(bytes, count, line + begin_bytes, digits_bytes);
  memcpy(line + begin_bytes + 2 * count, "\"}", sizeof "\"}");
  return line;
}

json_t *rd_event_failed(unsigned stage, enum rd_code code, const char *message) {
  json_t *number = stage ? json_integer((json_int_t)stage) : json_null();
  return rd_json_made(json_pack("{s:s,s:o,s:s,s:o}", "event", "failed", "stage", number, "code", rd_code_name(code),
                                "message", rd_json_made_text(message)));
}

json_t *rd_event_left_behind(pid_t pid, const char *command) {
  return rd_json_made(
      json_pack("{s:s,s:i,s:o}", "event", "left_behind", "pid", (int)pid, "command", rd_json_made_text(command)));
}

json_t *rd_event_exited(const struct rd_exit_event *exited) {
  int status = exited->status;
  json_t *code = WIFEXITED(status) ? json_integer(WEXITSTATUS(status)) : json_null();
  json_t *signal = WIFSIGNALED(status) ? json_integer(WTERMSIG(status)) : json_null();
  json_t *event = rd_json_made(json_pack("{s:s,s:I,s:o,s:o,s:b,s:b}", "event", "exited", "stage",
                                         (json_int_t)exited->stage, "code", code, "signal", signal, "stopped",
                                         (int)exited->stopped, "consumer_closed", (int)exited->consumer_closed));
  return with_usage(event, &exited->usage);
}

json_t *rd_event_link_ended(int64_t link, enum rd_hop_side side, const struct rd_link_end_event *ended) {
  json_t *event =
      rd_json_made(json_pack("{s:s,s:I,s:s,s:s,s:i,s:s,s:o,s:I,s:I}", "event", "link_ended", "link", (json_int_t)link,
                             "end", rd_hop_side_name(side), "result", ended->result, "status", ended->status, "code",
                             ended->code, "message", rd_json_made_text(ended->message), "bytes",
                             (json_int_t)ended->bytes, "wire_bytes", (json_int_t)ended->wire_bytes));
  return with_usage(event, &ended->usage);
}

static json_t *with_usage(json_t *event, const struct rd_usage *usage) {
  json_object_set_new(event, "user_ms", rd_json_made(json_integer((json_int_t)usage->user_ms)));
  json_object_set_new(event, "system_ms", rd_json_made(json_integer((json_int_t)usage->system_ms)));
  json_object_set_new(event, "max_rss_kib", rd_json_made(json_integer((json_int_t)usage->max_rss_kib)));
  return event;
}
