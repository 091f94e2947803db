// SPDX-License-Identifier: Apache-2.0
// rdsend or rdrecv as it was built ($RD_BIN), commanded as rdstage commands it (docs/protocol.md, section 3).
#ifndef RD_VICTIM_H
#define RD_VICTIM_H

#include "hand_peer.h"
#include "transport/tcp/connector.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct victim {
  pid_t pid;
  int agent_fd;
  uint16_t port;      // where it listens; 0: not yet
  char said[1 << 16]; // all its events so far, one a line
  size_t said_bytes;
};

__attribute__((format(printf, 2, 3))) static inline void victim_tell(struct victim *victim, const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  REQUIRE(length > 0 && (size_t)length < sizeof line - 1);
  line[length] = '\n';
  // It may have gone.
  (void)send(victim->agent_fd, line, (size_t)length + 1, MSG_NOSIGNAL);
}

static inline void victim_start(struct victim *victim, enum rd_role role, enum rd_protection wants) {
  char path[4096], key[] = "07", hex[2 * RD_KEY_BYTES + 1] = "";
  int ends[2];
  *victim = (struct victim){.pid = -1};
  const char *programs = getenv("RD_BIN"), *name = role == RD_ROLE_SENDER ? "rdsend" : "rdrecv";
  REQUIRE(programs != NULL);
  snprintf(path, sizeof path, "%s/%s", programs, name);
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  char *const words[] = {path, (char[]){"--agent-fd"}, (char[]){"9"}, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 9);
  REQUIRE(posix_spawn(&victim->pid, path, &actions, NULL, words, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  victim->agent_fd = ends[0];
  for (unsigned i = 0; i < RD_KEY_BYTES; i++) strcat(hex, key);
  victim_tell(victim,
              "{\"op\":\"open\",\"key\":\"%s\",\"run\":\"test\",\"hop\":1,\"encrypt\":\"%s\",\"buffer\":65536,"
              "\"connect_timeout_ms\":%d,\"stall_timeout_ms\":%d,\"bind\":\"127.0.0.1\",\"ports\":[0,0]}",
              hex, protection_words[wants], WAIT_MS, WAIT_MS);
}

// Its source or sink.
static inline void victim_tell_file(struct victim *victim, const char *path) {
  char hex[512] = "";
  for (const char *at = path; *at != '\0'; at++) snprintf(hex + 2 * (at - path), 3, "%02x", (unsigned char)*at);
  victim_tell(victim, "{\"op\":\"file\",\"path\":\"%s\",\"append\":false}", hex);
}

// The line of the first event of this name; NULL: it does not come.
static inline const char *victim_hear(struct victim *victim, const char *event) {
  char wanted[64];
  snprintf(wanted, sizeof wanted, "{\"event\":\"%s\"", event);
  for (int64_t until_ms = rd_now_ms() + WAIT_MS; rd_now_ms() < until_ms;) {
    const char *found = strstr(victim->said, wanted);
    if (found != NULL && strchr(found, '\n') != NULL) return found;
    if (rd_wait_fd(victim->agent_fd, POLLIN, 100) != 1) continue;
    size_t room = sizeof victim->said - 1 - victim->said_bytes;
    ssize_t got = rd_read_some(victim->agent_fd, victim->said + victim->said_bytes, room);
    if (got <= 0) return NULL;
    victim->said_bytes += (size_t)got;
  }
  return NULL;
}

// Where it listens, from the first time it is asked.
static inline uint16_t victim_port(struct victim *victim) {
  if (victim->port > 0) return victim->port;
  victim_tell(victim, "{\"op\":\"listen\"}");
  const char *line = victim_hear(victim, "listening");
  REQUIRE(line != NULL);
  const char *port = strstr(line, "\"port\":");
  REQUIRE(port != NULL);
  victim->port = (uint16_t)atoi(port + strlen("\"port\":"));
  return victim->port;
}

static inline void victim_dial(struct victim *victim, uint16_t port) {
  victim_tell(victim, "{\"op\":\"dial\",\"addresses\":[{\"host\":\"127.0.0.1\",\"port\":%u}]}", port);
}

// The connection that comes of it; the connector is gone then.
static inline struct rd_transport *victim_take(struct rd_connector *connector) {
  struct rd_transport *transport = NULL;
  struct rd_error error;
  int taken = 0;
  REQUIRE(connector != NULL);
  for (int64_t until_ms = rd_now_ms() + WAIT_MS; taken == 0 && rd_now_ms() < until_ms;) {
    rd_wait_fd(connector->ops->poll_fd(connector), POLLIN, 100);
    taken = connector->ops->accept(connector, &transport, &error);
  }
  REQUIRE(taken == 1);
  rd_connector_destroy(connector);
  return transport;
}

static inline struct rd_transport *victim_knock(struct victim *victim) {
  struct rd_address address = {.host = "127.0.0.1", .port = victim_port(victim)};
  struct rd_error error;
  return victim_take(rd_tcp_dial(&address, &error));
}

// True: it has finished with this code, and gone with no other status than that.
static inline bool victim_ends(struct victim *victim, enum rd_code code) {
  char wanted[64];
  int status = -1;
  const char *line = victim_hear(victim, "finished");
  snprintf(wanted, sizeof wanted, "\"code\":\"%s\"", rd_code_name(code));
  bool right = line != NULL && strstr(line, wanted) != NULL;
  if (!right) fprintf(stderr, "%s, not %s\n", line != NULL ? line : "nothing", wanted);
  victim_tell(victim, "{\"op\":\"release\"}");
  REQUIRE(waitpid(victim->pid, &status, 0) == victim->pid);
  close(victim->agent_fd);
  return right && WIFEXITED(status) && WEXITSTATUS(status) == rd_code_status(code);
}

#endif
