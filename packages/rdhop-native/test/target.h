// SPDX-License-Identifier: Apache-2.0
// The rdsend or rdrecv under test ($RD_BIN), controlled as by rdstage (docs/protocol/hop-agent.md).
#ifndef RD_TARGET_H
#define RD_TARGET_H

#include "scripted_peer.h"
#include "transport/tcp/connector.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct target {
  pid_t pid;
  int agent_fd;
  uint16_t port;      // the port that it listens on; 0: not yet
  char said[1 << 16]; // all its events so far, one per line
  size_t said_bytes;
};

__attribute__((format(printf, 2, 3))) static inline void target_command(struct target *target, const char *format,
                                                                        ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  REQUIRE(length > 0 && (size_t)length < sizeof line - 1);
  line[length] = '\n';
  // The program may have gone.
  (void)send(target->agent_fd, line, (size_t)length + 1, MSG_NOSIGNAL);
}

static inline void target_start(struct target *target, enum rd_role role, enum rd_protection wants) {
  char path[4096], key[] = "07", hex[2 * RD_KEY_BYTES + 1] = "";
  int ends[2];
  *target = (struct target){.pid = -1};
  const char *programs = getenv("RD_BIN"), *name = role == RD_ROLE_SENDER ? "rdsend" : "rdrecv";
  REQUIRE(programs != NULL);
  snprintf(path, sizeof path, "%s/%s", programs, name);
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  char *const words[] = {path, (char[]){"--agent-fd"}, (char[]){"9"}, NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 9);
  REQUIRE(posix_spawn(&target->pid, path, &actions, NULL, words, environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  target->agent_fd = ends[0];
  for (unsigned i = 0; i < RD_KEY_BYTES; i++) strcat(hex, key);
  target_command(target,
                 "{\"op\":\"open\",\"key\":\"%s\",\"run\":\"test\",\"hop\":1,\"encrypt\":\"%s\",\"buffer\":65536,"
                 "\"connect_timeout_ms\":%d,\"stall_timeout_ms\":%d,\"bind\":\"127.0.0.1\",\"ports\":[0,0]}",
                 hex, protection_words[wants], WAIT_MS, WAIT_MS);
}

// Sets the source or sink.
static inline void target_set_file(struct target *target, const char *path) {
  char hex[512] = "";
  for (const char *at = path; *at != '\0'; at++) snprintf(hex + 2 * (at - path), 3, "%02x", (unsigned char)*at);
  target_command(target, "{\"op\":\"file\",\"path\":\"%s\",\"append\":false}", hex);
}

// Returns the line of the first event of this name, or NULL if it did not arrive within this time.
static inline const char *target_event(struct target *target, const char *event, int64_t within_ms) {
  char wanted[64];
  snprintf(wanted, sizeof wanted, "{\"event\":\"%s\"", event);
  for (int64_t until_ms = rd_now_ms() + within_ms;;) {
    const char *found = strstr(target->said, wanted);
    if (found != NULL && strchr(found, '\n') != NULL) return found;
    int64_t left_ms = until_ms - rd_now_ms();
    if (rd_wait_fd(target->agent_fd, POLLIN, left_ms > 0 ? (int)left_ms : 0) != 1) return NULL;
    size_t room = sizeof target->said - 1 - target->said_bytes;
    ssize_t got = rd_read_some(target->agent_fd, target->said + target->said_bytes, room);
    if (got <= 0) return NULL;
    target->said_bytes += (size_t)got;
  }
}

static inline const char *target_wait_event(struct target *target, const char *event) {
  return target_event(target, event, WAIT_MS);
}

// Returns the port that the target listens on; starts to listen at the first call.
static inline uint16_t target_port(struct target *target) {
  if (target->port > 0) return target->port;
  target_command(target, "{\"op\":\"listen\"}");
  const char *line = target_wait_event(target, "listening");
  REQUIRE(line != NULL);
  const char *port = strstr(line, "\"port\":");
  REQUIRE(port != NULL);
  target->port = (uint16_t)atoi(port + strlen("\"port\":"));
  return target->port;
}

static inline void target_dial(struct target *target, uint16_t port) {
  target_command(target, "{\"op\":\"dial\",\"addresses\":[{\"host\":\"127.0.0.1\",\"port\":%u}]}", port);
}

// Returns the connection that results, and destroys the connector.
static inline struct rd_transport *accept_one(struct rd_connector *connector) {
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

static inline struct rd_transport *target_connect(struct target *target) {
  struct rd_address address = {.host = "127.0.0.1", .port = target_port(target)};
  struct rd_error error;
  return accept_one(rd_tcp_dial(&address, &error));
}

// Returns true if the target has finished with this code and exited with the status of that code.
static inline bool target_ends(struct target *target, enum rd_code code) {
  char wanted[64];
  int status = -1;
  const char *line = target_wait_event(target, "finished");
  snprintf(wanted, sizeof wanted, "\"code\":\"%s\"", rd_code_name(code));
  bool right = line != NULL && strstr(line, wanted) != NULL;
  if (!right) fprintf(stderr, "%s, not %s\n", line != NULL ? line : "nothing", wanted);
  target_command(target, "{\"op\":\"release\"}");
  REQUIRE(waitpid(target->pid, &status, 0) == target->pid);
  close(target->agent_fd);
  return right && WIFEXITED(status) && WEXITSTATUS(status) == rd_code_status(code);
}

#endif
