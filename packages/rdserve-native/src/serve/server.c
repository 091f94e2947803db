// SPDX-License-Identifier: Apache-2.0
#include "serve/server.h"

#include "base/cleanup.h"
#include "base/descriptor_limit.h"
#include "base/io.h"
#include "base/memory.h"
#include "base/spawn.h"
#include "base/text.h"
#include "sandbox/hardening.h"
#include "serve/report.h"
#include "transport/tcp/connector.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define STRANGERS_MAX 64u
#define HANDSHAKE_MS 5000
#define SHARE_KEPT 4u // one of so many places is for others
#define ACCEPTS_AT_A_TIME 16
#define STRANGER_LINE_MS 1000
#define FIXED_FDS 2 // polled in addition to the connections

struct server {
  const struct rd_serve_options *options;
  struct rd_serve_log report;
  struct rd_clients *clients;
  struct rd_connector *listener; // NULL: the server drains
  uint16_t port;
  int signal_fd;
  struct rd_client_session *connections; // oldest first
  bool is_ending;                        // every session is being ended
  int64_t end_ms;                        // end of draining; 0: no limit
  int64_t accept_ms;                     // do not accept before: there was no memory or descriptor
  struct rd_averages averages;
  struct rd_average_step step;
  int64_t step_ms;
  uint64_t strangers;
  int64_t strangers_ms;
  char stranger[RD_SOCKET_ADDRESS_TEXT_BYTES], stranger_reason[512];
};

static bool set_up(struct server *server, struct rd_error *error);
static bool listen_for_clients(struct server *server, struct rd_error *error);
static void turn(struct server *server);
static int wait_ms(const struct server *server);
static void accept_clients(struct server *server);
static void add_connection(struct server *server, int socket_fd);
static void take_messages(struct server *server, struct rd_client_session *connection);
static void take_message(struct server *server, struct rd_client_session *connection,
                         const struct rd_relay_message *message);
static void admit(struct server *server, struct rd_client_session *connection, const char *name);
static bool has_its_share(const struct server *server, const struct rd_client_session *connection, char *reason,
                          size_t reason_bytes);
static bool is_of_network(const struct rd_client_session *one, const struct rd_client_session *other);
static void refuse(struct server *server, struct rd_client_session *connection, const char *reason);
static void take_signals(struct server *server);
static void reload(struct server *server);
static void drain(struct server *server);
static void end_sessions(struct server *server);
static void reap(struct server *server);
static void remove_ended(struct server *server);
static void keep_time(struct server *server);
static void evict_late_strangers(struct server *server, int64_t now_ms);
static void evict_one_stranger(struct server *server);
static void evict(struct server *server, struct rd_client_session *connection, const char *reason);
static bool is_stranger(const struct rd_client_session *connection);
static void note_stranger(struct server *server, const struct rd_client_session *connection, const char *reason);
static size_t count_connections(const struct server *server, bool sessions);

int rd_serve_run(const struct rd_serve_options *options, struct rd_error *error) {
  struct server server = {.options = options, .report = {.json = options->json}, .signal_fd = -1};
  rd_harden_process();
  signal(SIGPIPE, SIG_IGN);
  if (!set_up(&server, error)) {
    rd_clients_destroy(server.clients);
    return rd_code_status(error->code);
  }
  error->code = RD_CODE_OK;
  rd_serve_log_serving(&server.report, options, server.port, server.clients->count);
  while (server.listener != NULL || server.connections != NULL) turn(&server);
  rd_clients_destroy(server.clients);
  rd_cleanup_fd(&server.signal_fd);
  return 0;
}

static bool set_up(struct server *server, struct rd_error *error) {
  rd_descriptor_limit_raise(); // a connection holds two descriptors, a client one
  server->clients = rd_clients_load(server->options, error);
  signal(SIGCHLD, SIG_DFL); // if it was inherited as ignored, no child could be waited for
  server->signal_fd = rd_spawn_signals(error);
  server->step_ms = rd_now_ms() + RD_AVERAGES_STEP_MS;
  return server->clients != NULL && server->signal_fd >= 0 && listen_for_clients(server, error);
}

// Accepts only an address of this machine: for any other, rd_tcp_listen() would listen on all addresses.
static bool listen_for_clients(struct server *server, struct rd_error *error) {
  const struct rd_serve_options *options = server->options;
  if (options->bind != NULL && !rd_tcp_is_here(options->bind, error)) return false;
  server->listener = rd_tcp_listen(options->bind, options->port, options->port, &server->port, error);
  return server->listener != NULL;
}

static void turn(struct server *server) {
  size_t count = 0, most = FIXED_FDS + count_connections(server, true) + count_connections(server, false);
  RD_AUTO_FREE struct pollfd *polled = rd_memory_new(most, sizeof *polled);
  bool accepts = server->listener != NULL && rd_now_ms() >= server->accept_ms;
  polled[count++] = (struct pollfd){.fd = server->signal_fd, .events = POLLIN};
  polled[count++] =
      (struct pollfd){.fd = accepts ? server->listener->ops->poll_fd(server->listener) : -1, .events = POLLIN};
  for (const struct rd_client_session *one = server->connections; one != NULL; one = one->next)
    polled[count++] = (struct pollfd){.fd = one->message_fd, .events = POLLIN};
  if (poll(polled, count, wait_ms(server)) < 0) return;
  size_t at = FIXED_FDS;
  for (struct rd_client_session *one = server->connections; one != NULL; one = one->next, at++)
    if (polled[at].revents != 0) take_messages(server, one);
  if (polled[0].revents != 0) take_signals(server);
  if (polled[1].revents != 0 && server->listener != NULL) accept_clients(server);
  remove_ended(server);
  keep_time(server);
}

static int wait_ms(const struct server *server) {
  int64_t now_ms = rd_now_ms(), next_ms = server->step_ms;
  if (server->end_ms > 0 && server->end_ms < next_ms) next_ms = server->end_ms;
  if (server->accept_ms > now_ms && server->accept_ms < next_ms) next_ms = server->accept_ms;
  if (server->strangers > 0 && server->strangers_ms < next_ms) next_ms = server->strangers_ms;
  for (const struct rd_client_session *one = server->connections; one != NULL; one = one->next)
    if (!one->is_session && !one->is_ending && one->began_ms + HANDSHAKE_MS < next_ms)
      next_ms = one->began_ms + HANDSHAKE_MS;
  return next_ms > now_ms ? (int)(next_ms - now_ms) : 0;
}

// Accepts only some of the waiting connections, so that sessions and signals are served in between.
static void accept_clients(struct server *server) {
  for (int i = 0; i < ACCEPTS_AT_A_TIME; i++) {
    int fd = accept4(server->listener->ops->poll_fd(server->listener), NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      add_connection(server, fd);
      continue;
    }
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
      server->accept_ms = rd_now_ms() + 100;
    return;
  }
}

// Adds a connection; if there are too many unauthenticated ones, one of these is evicted.
static void add_connection(struct server *server, int socket_fd) {
  struct rd_error error;
  if (count_connections(server, false) >= STRANGERS_MAX) evict_one_stranger(server);
  struct rd_client_session *connection = rd_client_session_create(socket_fd, server->clients, &error);
  if (connection == NULL) {
    rd_serve_log_failure(&server->report, error.message);
    server->accept_ms = rd_now_ms() + 100;
    return;
  }
  struct rd_client_session **place = &server->connections;
  while (*place != NULL) place = &(*place)->next;
  *place = connection;
}

static void take_messages(struct server *server, struct rd_client_session *connection) {
  struct rd_relay_message message;
  ssize_t got;
  while (connection->message_fd >= 0 && (got = recv(connection->message_fd, &message, sizeof message, 0)) != -1) {
    if (got != (ssize_t)sizeof message) {
      rd_cleanup_fd(&connection->message_fd); // the relay has exited
      return;
    }
    message.text[sizeof message.text - 1] = '\0';
    rd_text_clean(message.text, strlen(message.text)); // a relay may have been taken over by an attacker
    take_message(server, connection, &message);
  }
}

static void take_message(struct server *server, struct rd_client_session *connection,
                         const struct rd_relay_message *message) {
  switch (message->type) {
  case RD_RELAY_PROVED:
    if (!connection->is_session && !connection->is_ending) admit(server, connection, message->text);
    break;
  case RD_RELAY_STRANGER:
    note_stranger(server, connection, message->text);
    connection->is_ending = true;
    break;
  case RD_RELAY_OPENED:
    if (connection->is_open || !connection->is_session) break;
    connection->is_open = true;
    connection->direction = (enum rd_rights)(message->number & RD_RIGHTS_BOTH);
    memcpy(connection->path, message->text, sizeof connection->path);
    rd_serve_log_begin(&server->report, connection);
    break;
  case RD_RELAY_DENIED:
    if (connection->is_session) memcpy(connection->refusal, message->text, sizeof connection->refusal);
    break;
  case RD_RELAY_MOVED:
    if (!connection->is_session) break;
    connection->received += message->number;
    connection->sent += message->sent;
    server->step.received += message->number;
    server->step.sent += message->sent;
    break;
  case RD_RELAY_ADMITTED:
  case RD_RELAY_REFUSED:
    break;
  }
}

static void admit(struct server *server, struct rd_client_session *connection, const char *name) {
  struct rd_error error;
  char reason[96];
  const struct rd_client_grant *place = rd_clients_place(server->clients, name);
  snprintf(connection->name, sizeof connection->name, "%.64s", place != NULL ? name : "");
  snprintf(reason, sizeof reason, "the server is full: %u clients", server->options->most_clients);
  if (place == NULL)
    refuse(server, connection, "the server no longer knows this key");
  else if (server->listener == NULL)
    refuse(server, connection, "the server is shutting down");
  else if (count_connections(server, true) >= server->options->most_clients)
    refuse(server, connection, reason);
  else if (has_its_share(server, connection, reason, sizeof reason))
    refuse(server, connection, reason);
  else if (!rd_client_session_admit(connection, server->options, place, &error))
    refuse(server, connection, error.message);
}

// Keeps a quarter of the places for others than one client, if there are several, and for others than one address.
static bool has_its_share(const struct server *server, const struct rd_client_session *connection, char *reason,
                          size_t reason_bytes) {
  unsigned of_client = 0, of_network = 0, most = server->options->most_clients;
  unsigned share = most - most / SHARE_KEPT;
  for (const struct rd_client_session *one = server->connections; one != NULL; one = one->next) {
    if (!one->is_session) continue;
    if (strcmp(one->name, connection->name) == 0) of_client++;
    if (is_of_network(one, connection)) of_network++;
  }
  if (server->clients->count > 1 && of_client >= share)
    snprintf(reason, reason_bytes, "the server is full for this client: %u sessions", of_client);
  else if (of_network >= share)
    snprintf(reason, reason_bytes, "the server is full for this address: %u sessions", of_network);
  else
    return false;
  return true;
}

static bool is_of_network(const struct rd_client_session *one, const struct rd_client_session *other) {
  return memcmp(one->network, other->network, sizeof one->network) == 0;
}

static void refuse(struct server *server, struct rd_client_session *connection, const char *reason) {
  rd_client_session_refuse(connection, reason);
  rd_serve_log_end(&server->report, connection, reason);
}

static void take_signals(struct server *server) {
  struct signalfd_siginfo info;
  while (read(server->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
    if (info.ssi_signo == SIGHUP) reload(server);
    if (info.ssi_signo != SIGTERM && info.ssi_signo != SIGINT) continue;
    if (server->listener != NULL)
      drain(server);
    else
      end_sessions(server);
  }
  reap(server);
}

// Running sessions keep the rights with which they began.
static void reload(struct server *server) {
  struct rd_error error;
  struct rd_clients *clients = rd_clients_load(server->options, &error);
  if (clients == NULL) {
    char message[sizeof error.message + 32];
    snprintf(message, sizeof message, "keeping the old keys: %s", error.message);
    rd_serve_log_failure(&server->report, message);
    return;
  }
  // A relay in its handshake has the old keys.
  for (struct rd_client_session *one = server->connections; one != NULL; one = one->next)
    if (!one->is_session) rd_client_session_end(one);
  rd_clients_destroy(server->clients);
  server->clients = clients;
  rd_serve_log_reloaded(&server->report, clients->count);
}

static void drain(struct server *server) {
  rd_connector_destroy(server->listener);
  server->listener = NULL;
  if (server->options->drain_ms > 0) server->end_ms = rd_now_ms() + server->options->drain_ms;
  for (struct rd_client_session *one = server->connections; one != NULL; one = one->next)
    if (!one->is_session) rd_client_session_end(one);
  rd_serve_log_draining(&server->report, count_connections(server, true));
}

static void end_sessions(struct server *server) {
  server->end_ms = 0;
  for (struct rd_client_session *one = server->connections; one != NULL; one = one->next) rd_client_session_end(one);
}

static void reap(struct server *server) {
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
    for (struct rd_client_session *one = server->connections; one != NULL; one = one->next) {
      if (one->relay == pid) {
        take_messages(server, one); // its last messages
        one->relay = 0;
      }
      if (one->agent != pid) continue;
      one->agent = 0;
      one->agent_status = status;
    }
}

static void remove_ended(struct server *server) {
  for (struct rd_client_session **place = &server->connections; *place != NULL;) {
    struct rd_client_session *one = *place;
    if (one->relay > 0 || one->agent > 0) {
      place = &one->next;
      continue;
    }
    if (one->is_session) rd_serve_log_end(&server->report, one, one->refusal[0] != '\0' ? one->refusal : NULL);
    *place = one->next;
    rd_client_session_destroy(one);
  }
}

static void keep_time(struct server *server) {
  int64_t now_ms = rd_now_ms();
  evict_late_strangers(server, now_ms);
  if (server->end_ms > 0 && now_ms >= server->end_ms) end_sessions(server);
  if (server->strangers > 0 && now_ms >= server->strangers_ms) {
    rd_serve_log_strangers(&server->report, server->strangers, server->stranger, server->stranger_reason);
    server->strangers = 0;
    server->strangers_ms = now_ms + STRANGER_LINE_MS;
  }
  if (now_ms < server->step_ms) return;
  server->step.sessions = (unsigned)count_connections(server, true);
  rd_averages_add(&server->averages, &server->step);
  if (rd_averages_have_traffic(&server->averages)) rd_serve_log_averages(&server->report, &server->averages);
  server->step = (struct rd_average_step){0};
  server->step_ms += RD_AVERAGES_STEP_MS;
}

// Evicts the unauthenticated connections whose time is over.
static void evict_late_strangers(struct server *server, int64_t now_ms) {
  for (struct rd_client_session *one = server->connections; one != NULL; one = one->next)
    if (is_stranger(one) && now_ms - HANDSHAKE_MS >= one->began_ms) evict(server, one, "no handshake within 5 s");
}

// Evicts the oldest unauthenticated connection of the network that has most of them: one network cannot drive out the
// clients of others, whose handshakes may take longer.
static void evict_one_stranger(struct server *server) {
  struct rd_client_session *chosen = NULL;
  unsigned most = 0;
  for (struct rd_client_session *one = server->connections; one != NULL; one = one->next) {
    unsigned alike = 0;
    if (!is_stranger(one)) continue;
    for (const struct rd_client_session *other = one; other != NULL; other = other->next)
      if (is_stranger(other) && is_of_network(other, one)) alike++;
    if (alike <= most) continue;
    most = alike;
    chosen = one;
  }
  if (chosen != NULL) evict(server, chosen, "too many at once");
}

static void evict(struct server *server, struct rd_client_session *connection, const char *reason) {
  note_stranger(server, connection, reason);
  rd_client_session_end(connection);
}

static bool is_stranger(const struct rd_client_session *connection) {
  return !connection->is_session && !connection->is_ending && connection->name[0] == '\0';
}

static void note_stranger(struct server *server, const struct rd_client_session *connection, const char *reason) {
  server->strangers++;
  memcpy(server->stranger, connection->peer, sizeof server->stranger);
  snprintf(server->stranger_reason, sizeof server->stranger_reason, "%s", reason);
}

static size_t count_connections(const struct server *server, bool sessions) {
  size_t count = 0;
  for (const struct rd_client_session *one = server->connections; one != NULL; one = one->next)
    if (one->is_session == sessions) count++;
  return count;
}
