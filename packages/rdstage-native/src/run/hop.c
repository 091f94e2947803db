// SPDX-License-Identifier: Apache-2.0
#include "run/hop.h"

#include "base/hex.h"
#include "base/memory.h"
#include "protocol/event.h"
#include "protocol/prepare.h"
#include "run/part_environment.h"
#include "runtime/json_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct rd_stage_spec *file_of(const struct rd_prepare_spec *prepare, const struct rd_link_spec *link,
                                           enum rd_hop_side side);
static enum rd_code file_code(const struct rd_hop *hop);
static bool shows_output(const struct rd_hop *hop);
static void on_path(void *context, const char *path, const struct rd_error *why);
static bool start(struct rd_hop *hop, struct rd_error *error);
static void emit_open(struct rd_hop *hop);
static void emit_ring(struct rd_hop *hop, const char *op, struct rd_ring_fds fds, int number);
static void emit_file(struct rd_hop *hop, const char *path);
static void emit_early(struct rd_hop *hop);
static void fail(struct rd_hop *hop, const struct rd_error *error);
static void on_event(void *context, json_t *event);
static void pass_on(struct rd_hop *hop, json_t *event, bool droppable);
static void on_ready(struct rd_hop *hop);
static void on_end(struct rd_hop *hop, json_t *event);
static void become_ready(struct rd_hop *hop);
static void on_not_joined(struct rd_hop *hop, json_t *event);
static void on_finished(struct rd_hop *hop, json_t *event);
static void finish(struct rd_hop *hop, const struct rd_link_end_event *ended);
static void die(struct rd_hop *hop, int status, const struct rd_usage *usage);
static bool can_send(const struct rd_hop *hop);

struct rd_hop *rd_hop_create(struct rd_agent *agent, const struct rd_prepare_spec *prepare,
                             const struct rd_link_spec *link, enum rd_hop_side side,
                             const struct rd_hop_handler *handler) {
  struct rd_hop *hop = rd_memory_new(1, sizeof *hop);
  *hop = (struct rd_hop){.agent = agent, .prepare = prepare, .link = link, .side = side, .handler = *handler};
  hop->relay = hop->ring = RD_NO_RING_FDS;
  hop->file = file_of(prepare, link, side);
  return hop;
}

void rd_hop_destroy(struct rd_hop *hop) {
  if (hop == NULL) return;
  rd_path_expansion_destroy(hop->expansion);
  json_decref(hop->early);
  rd_hop_program_destroy(hop->program);
  free(hop);
}

void rd_hop_open(struct rd_hop *hop, int data_fd, int adopt_fd) {
  struct rd_error error;
  hop->data_fd = data_fd;
  hop->adopt_fd = adopt_fd;
  if (hop->file == NULL) {
    if (!start(hop, &error))
      fail(hop, &error);
    else if (hop->side != RD_SIDE_SEND || hop->relay.memory < 0)
      rd_hop_program_send(hop->program, json_pack("{s:s,s:b}", "op", "ready", "ask", (int)shows_output(hop)));
    return;
  }
  rd_part_environment_set(hop->file);
  hop->expansion = rd_path_expand(hop->agent, hop->file->text, file_code(hop), hop->prepare->connect_timeout_ms,
                                  on_path, hop, &error);
  if (hop->expansion == NULL) fail(hop, &error);
}

void rd_hop_set_relay(struct rd_hop *hop, struct rd_ring_fds relay) {
  hop->relay = relay;
}

void rd_hop_set_ring(struct rd_hop *hop, struct rd_ring_fds ring) {
  hop->ring = ring;
}

void rd_hop_rejoin(struct rd_hop *hop, const json_t *request) {
  if (!can_send(hop) || hop->aborted) return;
  json_t *message = rd_json_made(json_copy(json_object_get(request, "open")));
  json_object_set_new(message, "op", rd_json_made(json_string("rejoin")));
  rd_hop_program_send(hop->program, message);
}

void rd_hop_connect(struct rd_hop *hop, json_t *request) {
  if (can_send(hop)) {
    rd_hop_program_send(hop->program, json_incref(request));
  } else if (hop->expansion != NULL) {
    if (hop->early == NULL) hop->early = rd_json_made(json_array());
    json_array_append(hop->early, request);
  }
}

void rd_hop_consumer(struct rd_hop *hop, pid_t pid) {
  if (can_send(hop)) rd_hop_program_send(hop->program, json_pack("{s:s,s:i}", "op", "consumer", "pid", (int)pid));
}

void rd_hop_commit(struct rd_hop *hop, int status) {
  if (can_send(hop) && !hop->aborted)
    rd_hop_program_send(hop->program, json_pack("{s:s,s:i}", "op", "commit", "status", status));
}

void rd_hop_abort(struct rd_hop *hop, const char *reason) {
  if (hop->aborted) return;
  // A program that is already dying fails for its own reason; its peer may report the failure before the exit is seen
  // here.
  hop->aborted = hop->program == NULL || !rd_hop_program_has_left(hop->program);
  rd_path_expansion_destroy(hop->expansion);
  hop->expansion = NULL;
  if (hop->program == NULL) hop->over = true;
  if (can_send(hop)) rd_hop_program_send(hop->program, json_pack("{s:s,s:s}", "op", "abort", "reason", reason));
}

void rd_hop_expect_exit(struct rd_hop *hop) {
  hop->exit_expected = true;
}

void rd_hop_release(struct rd_hop *hop) {
  if (hop->program != NULL) rd_hop_program_send(hop->program, json_pack("{s:s}", "op", "release"));
}

pid_t rd_hop_pid(const struct rd_hop *hop) {
  return hop->program != NULL && !hop->over ? rd_hop_program_pid(hop->program) : -1;
}

void rd_hop_drain(struct rd_hop *hop) {
  if (hop->program != NULL) rd_hop_program_drain(hop->program);
}

bool rd_hop_child_ended(struct rd_hop *hop, pid_t pid, int status, const struct rd_usage *usage) {
  if (hop->expansion != NULL && pid == rd_path_expansion_pid(hop->expansion)) {
    rd_path_expansion_reaped(hop->expansion, status);
    return true;
  }
  if (pid != rd_hop_pid(hop)) return false;
  rd_hop_program_ended(hop->program);
  hop->over = true;
  if (!hop->finished) die(hop, status, usage);
  hop->handler.changed(hop->handler.context);
  return true;
}

static const struct rd_stage_spec *file_of(const struct rd_prepare_spec *prepare, const struct rd_link_spec *link,
                                           enum rd_hop_side side) {
  enum rd_link_party party = side == RD_SIDE_SEND ? link->source : link->sink;
  const struct rd_stage_spec *stage = rd_prepare_stage_of(prepare, link->number, side);
  return party == RD_PARTY_STAGE && stage != NULL && rd_prepare_is_file(stage) ? stage : NULL;
}

static enum rd_code file_code(const struct rd_hop *hop) {
  return hop->side == RD_SIDE_SEND ? RD_CODE_SOURCE_UNREADABLE : RD_CODE_SINK_UNWRITABLE;
}

// Returns true if the output is on a terminal, where rdpipe may show its progress.
static bool shows_output(const struct rd_hop *hop) {
  return hop->side == RD_SIDE_RECV && hop->link->sink == RD_PARTY_USER && isatty(hop->data_fd);
}

static void on_path(void *context, const char *path, const struct rd_error *why) {
  struct rd_hop *hop = context;
  struct rd_error error;
  if (path == NULL)
    fail(hop, why);
  else if (!start(hop, &error))
    fail(hop, &error);
  else {
    emit_file(hop, path);
    emit_early(hop);
  }
}

static bool start(struct rd_hop *hop, struct rd_error *error) {
  struct rd_hop_program_setup setup = {.side = hop->side,
                                       .rdma = hop->link->rdma,
                                       .data_fd = hop->data_fd,
                                       .adopt_fd = hop->adopt_fd,
                                       .relay = hop->relay,
                                       .ring = hop->ring,
                                       .function = on_event,
                                       .context = hop};
  hop->program = rd_hop_program_start(hop->agent, &setup, error);
  if (hop->program == NULL) return false;
  emit_open(hop);
  emit_ring(hop, "relay", hop->relay, RD_HOP_PROGRAM_RELAY_FDS);
  emit_ring(hop, "ring", hop->ring, RD_HOP_PROGRAM_RING_FDS);
  return true;
}

// Passes on the settings unchanged. Those of a local link are for both ends: each end gets only its own key of a chain.
static void emit_open(struct rd_hop *hop) {
  json_t *message = rd_json_made(json_copy(hop->link->open));
  json_object_del(message, hop->side == RD_SIDE_SEND ? "verify" : "sign");
  json_object_set_new(message, "op", rd_json_made(json_string("open")));
  rd_hop_program_send(hop->program, message);
}

// `number`: that of the first descriptor in the program.
static void emit_ring(struct rd_hop *hop, const char *op, struct rd_ring_fds fds, int number) {
  if (fds.memory < 0) return;
  rd_hop_program_send(hop->program, json_pack("{s:s,s:i,s:i}", "op", op, "memory", number, "bell", number + 1));
}

static void emit_file(struct rd_hop *hop, const char *path) {
  size_t bytes = strlen(path), text_bytes = 2 * bytes + 1;
  char *text = rd_memory_new(text_bytes, 1);
  rd_hex_encode((const unsigned char *)path, bytes, text, text_bytes);
  rd_hop_program_send(hop->program,
                      json_pack("{s:s,s:s,s:b}", "op", "file", "path", text, "append", (int)hop->file->append));
  free(text);
}

static void emit_early(struct rd_hop *hop) {
  for (size_t i = 0; i < json_array_size(hop->early); i++)
    rd_hop_program_send(hop->program, json_incref(json_array_get(hop->early, i)));
  json_decref(hop->early);
  hop->early = NULL;
}

// The program could not be started.
static void fail(struct rd_hop *hop, const struct rd_error *error) {
  hop->over = true;
  rd_control_line_emit(hop->agent->control,
                       rd_event_failed(hop->file != NULL ? hop->file->number : 0, error->code, error->message));
  hop->handler.finished(hop->handler.context, false);
  hop->handler.changed(hop->handler.context);
}

static void on_event(void *context, json_t *event) {
  struct rd_hop *hop = context;
  const char *name = json_string_value(json_object_get(event, "event"));
  if (strcmp(name, "ready") == 0)
    on_ready(hop);
  else if (strcmp(name, "end") == 0)
    on_end(hop, event);
  else if (strcmp(name, "finished") == 0)
    on_finished(hop, event);
  else if (hop->adopt_fd >= 0 && strcmp(name, "dial_failed") == 0)
    on_not_joined(hop, event);
  else
    pass_on(hop, event, strcmp(name, "counters") == 0);
  if (hop->adopt_fd >= 0 && strcmp(name, "connected") == 0) become_ready(hop);
}

static void pass_on(struct rd_hop *hop, json_t *event, bool droppable) {
  json_object_set_new(event, "link", json_integer((json_int_t)hop->link->number));
  json_object_set_new(event, "end", json_string(rd_hop_side_name(hop->side)));
  if (droppable)
    rd_control_line_emit_if_idle(hop->agent->control, json_incref(event));
  else
    rd_control_line_emit(hop->agent->control, json_incref(event));
}

// An end that adopts a socket is ready only after it is connected to the other end.
static void on_ready(struct rd_hop *hop) {
  if (hop->adopt_fd < 0)
    become_ready(hop);
  else
    rd_hop_program_send(hop->program, json_pack("{s:s,s:i,s:b}", "op", "adopt", "fd", RD_HOP_PROGRAM_ADOPT_FD, "dialer",
                                                hop->side == RD_SIDE_SEND));
}

// Later hosts of a chain may still lack the data that is written here, so rdpipe needs to know both.
static void on_end(struct rd_hop *hop, json_t *event) {
  hop->handler.end(hop->handler.context);
  if (!json_is_true(json_object_get(hop->link->open, "chain"))) return;
  json_object_set_new(event, "event", json_string("written"));
  pass_on(hop, event, false);
}

static void become_ready(struct rd_hop *hop) {
  hop->ready = true;
  hop->handler.changed(hop->handler.context);
}

// There is no other method to connect the ends of a local link.
static void on_not_joined(struct rd_hop *hop, json_t *event) {
  const char *message = json_string_value(json_object_get(event, "message"));
  if (!hop->aborted)
    rd_control_line_emit(hop->agent->control, rd_event_failed(0, RD_CODE_INTERNAL, message != NULL ? message : ""));
  rd_hop_abort(hop, "it could not be connected to its other end");
}

static void on_finished(struct rd_hop *hop, json_t *event) {
  const char *result, *code, *message;
  int status;
  json_int_t bytes, wire_bytes, user_ms, system_ms, max_rss_kib;
  if (hop->finished) return;
  if (json_unpack(event, "{s:s,s:i,s:s,s:s,s:I,s:I,s:I,s:I,s:I}", "result", &result, "status", &status, "code", &code,
                  "message", &message, "bytes", &bytes, "wire_bytes", &wire_bytes, "user_ms", &user_ms, "system_ms",
                  &system_ms, "max_rss_kib", &max_rss_kib))
    return; // the program is broken: its exit without a result is reported
  struct rd_link_end_event ended = {.result = result,
                                    .code = code,
                                    .message = message,
                                    .status = status,
                                    .bytes = bytes,
                                    .wire_bytes = wire_bytes,
                                    .usage = {.user_ms = user_ms, .system_ms = system_ms, .max_rss_kib = max_rss_kib}};
  if (!hop->ready && hop->file != NULL && strcmp(code, rd_code_name(file_code(hop))) == 0)
    rd_control_line_emit(hop->agent->control, rd_event_failed(hop->file->number, file_code(hop), message));
  finish(hop, &ended);
}

static void finish(struct rd_hop *hop, const struct rd_link_end_event *ended) {
  hop->finished = true;
  rd_control_line_emit(hop->agent->control, rd_event_link_ended(hop->link->number, hop->side, ended));
  bool well = strcmp(ended->result, "delivered") == 0 || strcmp(ended->result, "closed") == 0;
  hop->handler.finished(hop->handler.context, well);
}

// The program exited without reporting a result. After an abort this is not a failure of its own, except for death by a
// signal that the supervisor did not send: the peer may report the loss, and rdpipe may send abort, before the exit is
// seen here.
static void die(struct rd_hop *hop, int status, const struct rd_usage *usage) {
  const char *name = rd_hop_program_name(hop->side);
  struct rd_error error;
  if (WIFSIGNALED(status))
    rd_error_set(&error, RD_CODE_INTERNAL, "%s was killed by signal %d", name, WTERMSIG(status));
  else
    rd_error_set(&error, RD_CODE_INTERNAL, "%s exited with status %d without reporting a result", name,
                 WEXITSTATUS(status));
  bool stopped = hop->aborted && (hop->exit_expected || !WIFSIGNALED(status));
  if (stopped) rd_error_set(&error, RD_CODE_ABORTED, "%s was stopped", name);
  struct rd_link_end_event ended = {.result = stopped ? "aborted" : "failed",
                                    .code = rd_code_name(error.code),
                                    .message = error.message,
                                    .status = rd_code_status(error.code),
                                    .usage = *usage};
  finish(hop, &ended);
}

static bool can_send(const struct rd_hop *hop) {
  return hop->program != NULL && !hop->finished && !hop->over;
}
