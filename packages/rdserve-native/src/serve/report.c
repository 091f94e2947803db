// SPDX-License-Identifier: Apache-2.0
#include "serve/report.h"

#include "base/io.h"
#include "base/size_text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define WINDOWS 3

static const struct {
  const char *name;
  size_t steps;
} windows[WINDOWS] = {{"10 s", 1}, {"1 min", 6}, {"5 min", 30}};

static const char *clients_word(size_t count);
static const char *doing(enum rd_rights direction);
static const char *result_of(const struct rd_client_session *connection);
static void add_average(const struct rd_averages *averages, size_t window, char *line, size_t bytes);
static void write_json(json_t *object);

void rd_serve_log_serving(const struct rd_serve_log *report, const struct rd_serve_options *options, uint16_t port,
                          size_t clients) {
  if (report->json)
    write_json(json_pack("{s:s,s:i,s:i,s:s}", "event", "serving", "port", (int)port, "clients", (int)clients, "rights",
                         rd_rights_name(options->rights)));
  else
    fprintf(stderr, "rdrecv: serving %s on port %u (keys of %zu %s)\n", options->directory, port, clients,
            clients_word(clients));
}

void rd_serve_log_begin(const struct rd_serve_log *report, const struct rd_client_session *connection) {
  if (report->json)
    write_json(json_pack("{s:s,s:s,s:s,s:s,s:s}", "event", "begin", "client", connection->name, "peer",
                         connection->peer, "direction", rd_rights_name(connection->direction), "path",
                         connection->path));
  else
    fprintf(stderr, "rdrecv: %s from %s: began %s %s\n", connection->name, connection->peer,
            doing(connection->direction), connection->path);
}

void rd_serve_log_end(const struct rd_serve_log *report, const struct rd_client_session *connection,
                      const char *refusal) {
  const char *result = refusal != NULL ? "refused" : result_of(connection);
  double seconds = (double)(rd_now_ms() - connection->began_ms) / 1000;
  if (report->json) {
    write_json(json_pack("{s:s,s:s,s:s,s:s,s:s,s:I,s:I,s:f,s:s,s:s?}", "event", "end", "client", connection->name,
                         "peer", connection->peer, "direction", rd_rights_name(connection->direction), "path",
                         connection->path, "received", (json_int_t)connection->received, "sent",
                         (json_int_t)connection->sent, "seconds", seconds, "status", result, "reason", refusal));
    return;
  }
  char received[RD_SIZE_TEXT_BYTES], sent[RD_SIZE_TEXT_BYTES];
  rd_size_text((double)connection->received, received, sizeof received);
  rd_size_text((double)connection->sent, sent, sizeof sent);
  if (refusal != NULL && connection->is_open)
    fprintf(stderr, "rdrecv: %s from %s: %s %s: refused: %s\n", connection->name, connection->peer,
            doing(connection->direction), connection->path, refusal);
  else if (refusal != NULL)
    fprintf(stderr, "rdrecv: %s from %s: refused: %s\n", connection->name, connection->peer, refusal);
  else if (connection->is_open)
    fprintf(stderr, "rdrecv: %s from %s: %s %s: %s, received %s, sent %s in %.1f s\n", connection->name,
            connection->peer, doing(connection->direction), connection->path, result, received, sent, seconds);
  else
    fprintf(stderr, "rdrecv: %s from %s: ended without a copy after %.1f s\n", connection->name, connection->peer,
            seconds);
}

void rd_serve_log_strangers(const struct rd_serve_log *report, uint64_t count, const char *peer, const char *reason) {
  if (report->json)
    write_json(json_pack("{s:s,s:I,s:s,s:s}", "event", "strangers", "count", (json_int_t)count, "peer", peer, "reason",
                         reason));
  else if (count == 1)
    fprintf(stderr, "rdrecv: refused a connection from %s: %s\n", peer, reason);
  else
    fprintf(stderr, "rdrecv: refused %llu connections, the last one from %s: %s\n", (unsigned long long)count, peer,
            reason);
}

void rd_serve_log_averages(const struct rd_serve_log *report, const struct rd_averages *averages) {
  char line[512] = "";
  if (!report->json) {
    for (size_t i = 0; i < WINDOWS; i++) add_average(averages, i, line, sizeof line);
    fprintf(stderr, "rdrecv: %s\n", line);
    return;
  }
  json_t *all = json_array();
  for (size_t i = 0; i < WINDOWS; i++) {
    struct rd_average average = rd_averages_over(averages, windows[i].steps);
    json_array_append_new(all, json_pack("{s:i,s:f,s:f,s:f}", "seconds",
                                         (int)windows[i].steps * RD_AVERAGES_STEP_MS / 1000, "received_per_s",
                                         average.received, "sent_per_s", average.sent, "sessions", average.sessions));
  }
  write_json(json_pack("{s:s,s:o}", "event", "averages", "averages", all));
}

void rd_serve_log_reloaded(const struct rd_serve_log *report, size_t clients) {
  if (report->json)
    write_json(json_pack("{s:s,s:i}", "event", "reloaded", "clients", (int)clients));
  else
    fprintf(stderr, "rdrecv: reloaded the keys of %zu %s\n", clients, clients_word(clients));
}

void rd_serve_log_draining(const struct rd_serve_log *report, size_t sessions) {
  if (report->json)
    write_json(json_pack("{s:s,s:i}", "event", "draining", "sessions", (int)sessions));
  else
    fprintf(stderr, "rdrecv: accepting no more clients; %zu %s finishing (send TERM again to end them)\n", sessions,
            sessions == 1 ? "session is" : "sessions are");
}

void rd_serve_log_failure(const struct rd_serve_log *report, const char *message) {
  if (report->json)
    write_json(json_pack("{s:s,s:s}", "event", "failure", "message", message));
  else
    fprintf(stderr, "rdrecv: %s\n", message);
}

static const char *clients_word(size_t count) {
  return count == 1 ? "client" : "clients";
}

static const char *doing(enum rd_rights direction) {
  static const char *const words[] = {"opening", "reading", "writing", "changing"};
  return words[direction & RD_RIGHTS_BOTH];
}

// The agent exits with 0 if its client has finished.
static const char *result_of(const struct rd_client_session *connection) {
  bool is_done = WIFEXITED(connection->agent_status) && WEXITSTATUS(connection->agent_status) == 0;
  return is_done ? "complete" : "ended early";
}

static void add_average(const struct rd_averages *averages, size_t window, char *line, size_t bytes) {
  struct rd_average average = rd_averages_over(averages, windows[window].steps);
  char received[RD_SIZE_TEXT_BYTES], sent[RD_SIZE_TEXT_BYTES];
  rd_rate_text(average.received, received, sizeof received);
  rd_rate_text(average.sent, sent, sizeof sent);
  size_t used = strlen(line);
  snprintf(line + used, bytes - used, "%s%s: received %s, sent %s, %.1f sessions", used > 0 ? "; " : "",
           windows[window].name, received, sent, average.sessions);
}

// Text from peers was made valid UTF-8 before.
static void write_json(json_t *object) {
  char *text = object != NULL ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6) | JSON_PRESERVE_ORDER) : NULL;
  if (text != NULL) fprintf(stderr, "%s\n", text);
  free(text);
  json_decref(object);
}
