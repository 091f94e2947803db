// SPDX-License-Identifier: Apache-2.0
#include "serve/relay.h"

#include "base/byte_queue.h"
#include "base/io.h"
#include "sandbox/sandbox.h"
#include "serve/observer.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES (64u << 10)
#define LAST_BYTES_MS 5000 // time limit for the bytes that the agent sent before its end

struct relaying {
  const struct rd_relay *relay;
  struct rd_tls_service *tls;
  struct rd_observer *observer;
  struct rd_byte_queue up, down; // to the agent, to the client
  short read_wants, write_wants; // events of the client's socket
  bool client_ended, client_lost, agent_ended, told_agent;
  int64_t last_ms;
};

static void keep_alive(int socket_fd);
static const struct rd_tls_client *authenticate(struct relaying *relaying);
static bool ask_server(const struct relaying *relaying, const char *name);
static void refuse(struct relaying *relaying, const char *reason);
static void send_message(const struct rd_relay *relay, const struct rd_relay_message *message);
static void pass_lines(struct relaying *relaying);
static bool wait_for_more(const struct relaying *relaying);
static void read_client(struct relaying *relaying);
static void write_agent(struct relaying *relaying);
static void read_agent(struct relaying *relaying);
static void write_client(struct relaying *relaying);
static bool is_empty(const struct rd_byte_queue *queue);
static void drop(struct rd_byte_queue *queue);
static void on_opened(void *context, enum rd_rights rights, const char *path);
static void on_refused(void *context, const char *reason);
static void on_moved(void *context, uint64_t received, uint64_t sent);

_Noreturn void rd_relay_run(const struct rd_relay *relay) {
  struct rd_error error;
  struct relaying relaying = {.relay = relay};
  prctl(PR_SET_PDEATHSIG, SIGKILL); // a session ends with its server
  keep_alive(relay->socket_fd);
  relaying.tls = rd_tls_service_create(relay->socket_fd, relay->clients->keys, relay->clients->count, &error);
  if (relaying.tls == NULL) _exit(EXIT_FAILURE);
  rd_sandbox_enter_closed();
  const struct rd_tls_client *client = authenticate(&relaying);
  if (client == NULL || !ask_server(&relaying, client->name)) _exit(EXIT_FAILURE);
  explicit_bzero(relay->clients->keys, relay->clients->count * sizeof *relay->clients->keys);
  pass_lines(&relaying);
  _exit(EXIT_SUCCESS);
}

// Detects within two minutes that a client's host is lost.
static void keep_alive(int socket_fd) {
  const int on = 1, idle_s = 30, interval_s = 10, probes = 6, silent_ms = 120000;
  setsockopt(socket_fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket_fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  setsockopt(socket_fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  setsockopt(socket_fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  setsockopt(socket_fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silent_ms, sizeof silent_ms);
  setsockopt(socket_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// The server ends this process if authentication takes too long.
static const struct rd_tls_client *authenticate(struct relaying *relaying) {
  const struct rd_tls_client *client = NULL;
  struct rd_error error;
  enum rd_outcome outcome;
  while ((outcome = rd_tls_service_accept(relaying->tls, &client, &error)) == RD_OUTCOME_AGAIN)
    rd_wait_fd(relaying->relay->socket_fd, rd_tls_service_wants(relaying->tls), -1);
  if (outcome == RD_OUTCOME_DONE) return client;
  struct rd_relay_message message = {.type = RD_RELAY_STRANGER};
  snprintf(message.text, sizeof message.text, "%s", error.message);
  send_message(relaying->relay, &message);
  return NULL;
}

static bool ask_server(const struct relaying *relaying, const char *name) {
  struct rd_relay_message message = {.type = RD_RELAY_PROVED};
  snprintf(message.text, sizeof message.text, "%s", name);
  send_message(relaying->relay, &message);
  rd_wait_fd(relaying->relay->server_fd, POLLIN, -1);
  if (recv(relaying->relay->server_fd, &message, sizeof message, 0) != (ssize_t)sizeof message) return false;
  if (message.type == RD_RELAY_ADMITTED) return true;
  refuse((struct relaying *)relaying, message.text);
  return false;
}

static void refuse(struct relaying *relaying, const char *reason) {
  char line[600];
  int bytes = snprintf(line, sizeof line, "rdrecv/1 refused: %s\n", reason);
  size_t written;
  while (rd_tls_service_write(relaying->tls, line, (size_t)bytes, &written) == RD_OUTCOME_AGAIN)
    if (rd_wait_fd(relaying->relay->socket_fd, rd_tls_service_wants(relaying->tls), LAST_BYTES_MS) != 1) return;
  rd_tls_service_end(relaying->tls);
}

static void send_message(const struct rd_relay *relay, const struct rd_relay_message *message) {
  send(relay->server_fd, message, sizeof *message, MSG_NOSIGNAL);
}

static void pass_lines(struct relaying *relaying) {
  relaying->observer = rd_observer_create(&(struct rd_observer_handler){
      .opened = on_opened, .moved = on_moved, .refused = on_refused, .context = relaying});
  do {
    relaying->read_wants = relaying->write_wants = 0;
    read_client(relaying);
    write_agent(relaying);
    read_agent(relaying);
    write_client(relaying);
    if (relaying->agent_ended && (is_empty(&relaying->down) || relaying->client_lost)) break;
  } while (wait_for_more(relaying));
  if (!relaying->client_lost) rd_tls_service_end(relaying->tls);
  rd_observer_destroy(relaying->observer);
  rd_byte_queue_clear(&relaying->up);
  rd_byte_queue_clear(&relaying->down);
}

// Returns false if the client did not take the agent's last bytes in time.
static bool wait_for_more(const struct relaying *relaying) {
  short agent_events =
      relaying->agent_ended
          ? 0
          : (short)((is_empty(&relaying->up) ? 0 : POLLOUT) | (is_empty(&relaying->down) ? POLLIN : 0));
  short client_events = relaying->client_lost ? 0 : (short)(relaying->read_wants | relaying->write_wants);
  struct pollfd polled[] = {{.fd = client_events != 0 ? relaying->relay->socket_fd : -1, .events = client_events},
                            {.fd = agent_events != 0 ? relaying->relay->agent_fd : -1, .events = agent_events}};
  bool may_read = is_empty(&relaying->up) && !relaying->client_ended && relaying->read_wants == 0;
  int64_t left_ms = relaying->last_ms - rd_now_ms();
  if (relaying->agent_ended && left_ms <= 0) return false;
  poll(polled, 2, may_read ? 0 : relaying->agent_ended ? (int)left_ms : -1);
  return true;
}

static void read_client(struct relaying *relaying) {
  struct rd_byte_queue *up = &relaying->up;
  if (!is_empty(up) || relaying->client_ended) return;
  size_t got;
  char *room = (char *)rd_byte_queue_reserve(up, BUFFER_BYTES);
  enum rd_outcome outcome = rd_tls_service_read(relaying->tls, room, BUFFER_BYTES, &got);
  if (outcome == RD_OUTCOME_AGAIN) {
    relaying->read_wants = rd_tls_service_wants(relaying->tls);
    return;
  }
  rd_byte_queue_fill(up, got);
  relaying->client_ended = outcome != RD_OUTCOME_DONE || got == 0;
  relaying->client_lost = relaying->client_lost || outcome != RD_OUTCOME_DONE;
  rd_observer_request(relaying->observer, room, got);
}

static void write_agent(struct relaying *relaying) {
  struct rd_byte_queue *up = &relaying->up;
  if (!is_empty(up)) {
    ssize_t count = send(relaying->relay->agent_fd, rd_byte_queue_first(up), rd_byte_queue_count(up), MSG_NOSIGNAL);
    if (count > 0) rd_byte_queue_take(up, (size_t)count);
    if (count < 0 && errno != EAGAIN && errno != EINTR) drop(up); // the agent's end is read below
  }
  if (!is_empty(up) || !relaying->client_ended || relaying->told_agent) return;
  shutdown(relaying->relay->agent_fd, SHUT_WR); // this ends all processes of the session
  relaying->told_agent = true;
}

static void read_agent(struct relaying *relaying) {
  struct rd_byte_queue *down = &relaying->down;
  if (!is_empty(down) || relaying->agent_ended) return;
  char *room = (char *)rd_byte_queue_reserve(down, BUFFER_BYTES);
  ssize_t got = recv(relaying->relay->agent_fd, room, BUFFER_BYTES, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got > 0) rd_byte_queue_fill(down, (size_t)got);
  if (got > 0) rd_observer_event(relaying->observer, room, (size_t)got);
  relaying->agent_ended = got <= 0;
  if (relaying->agent_ended) relaying->last_ms = rd_now_ms() + LAST_BYTES_MS;
}

static void write_client(struct relaying *relaying) {
  struct rd_byte_queue *down = &relaying->down;
  if (is_empty(down)) return;
  size_t written = 0;
  enum rd_outcome outcome = RD_OUTCOME_FAILED;
  if (!relaying->client_lost)
    outcome = rd_tls_service_write(relaying->tls, rd_byte_queue_first(down), rd_byte_queue_count(down), &written);
  if (outcome == RD_OUTCOME_AGAIN) relaying->write_wants = rd_tls_service_wants(relaying->tls);
  if (outcome == RD_OUTCOME_DONE) rd_byte_queue_take(down, written);
  if (outcome != RD_OUTCOME_FAILED) return;
  relaying->client_lost = relaying->client_ended = true;
  drop(down);
}

static bool is_empty(const struct rd_byte_queue *queue) {
  return rd_byte_queue_count(queue) == 0;
}

static void drop(struct rd_byte_queue *queue) {
  rd_byte_queue_take(queue, rd_byte_queue_count(queue));
}

static void on_opened(void *context, enum rd_rights rights, const char *path) {
  const struct relaying *relaying = context;
  struct rd_relay_message message = {.type = RD_RELAY_OPENED, .number = rights};
  snprintf(message.text, sizeof message.text, "%s", path);
  send_message(relaying->relay, &message);
}

static void on_refused(void *context, const char *reason) {
  const struct relaying *relaying = context;
  struct rd_relay_message message = {.type = RD_RELAY_DENIED};
  snprintf(message.text, sizeof message.text, "%s", reason);
  send_message(relaying->relay, &message);
}

static void on_moved(void *context, uint64_t received, uint64_t sent) {
  const struct relaying *relaying = context;
  send_message(relaying->relay, &(struct rd_relay_message){.type = RD_RELAY_MOVED, .number = received, .sent = sent});
}
