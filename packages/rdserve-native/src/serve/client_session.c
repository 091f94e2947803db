// SPDX-License-Identifier: Apache-2.0
#include "serve/client_session.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "serve/agent_process.h"

#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RELAY_FDS 10 // number of the relay's first descriptor; it has no other descriptor above 2
#define FIRST_FREE_FD 20

static pid_t start_relay(const struct rd_relay *relay);
static _Noreturn void run_relay(const struct rd_relay *relay);
static bool close_from(int first);
static void describe(struct rd_client_session *connection, int socket_fd);
static void read_network(const struct rd_socket_address *peer, unsigned char network[static RD_NETWORK_BYTES]);
static void split(const char *text, char *host, char *port, size_t bytes);
static void answer(const struct rd_client_session *connection, const struct rd_relay_message *message);

struct rd_client_session *rd_client_session_create(int socket_fd, const struct rd_clients *clients,
                                                   struct rd_error *error) {
  int messages[2], stream[2];
  RD_AUTO_CLOSE int socket = socket_fd;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, messages) != 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create a socket pair");
    return NULL;
  }
  RD_AUTO_CLOSE int message_fd = messages[0];
  RD_AUTO_CLOSE int server_fd = messages[1];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream) != 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create a socket pair");
    return NULL;
  }
  RD_AUTO_CLOSE int agent_end = stream[0];
  RD_AUTO_CLOSE int relay_end = stream[1];
  rd_set_nonblocking(relay_end);
  rd_set_nonblocking(message_fd);
  struct rd_relay relay = {.socket_fd = socket, .server_fd = server_fd, .agent_fd = relay_end, .clients = clients};
  pid_t pid = start_relay(&relay);
  if (pid < 0) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot start a process");
    return NULL;
  }
  struct rd_client_session *connection = rd_memory_new(1, sizeof *connection);
  connection->relay = pid;
  connection->began_ms = rd_now_ms();
  describe(connection, socket);
  connection->message_fd = rd_take_fd(&message_fd);
  connection->stream_fd = rd_take_fd(&agent_end);
  return connection;
}

void rd_client_session_destroy(struct rd_client_session *connection) {
  if (connection == NULL) return;
  rd_cleanup_fd(&connection->message_fd);
  rd_cleanup_fd(&connection->stream_fd);
  free(connection);
}

bool rd_client_session_admit(struct rd_client_session *connection, const struct rd_serve_options *options,
                             const struct rd_client_grant *place, struct rd_error *error) {
  struct rd_agent_start start = {.options = options,
                                 .place = place,
                                 .stream_fd = connection->stream_fd,
                                 .ssh_connection = connection->ssh_connection};
  pid_t agent = rd_agent_process_start(&start, error);
  rd_cleanup_fd(&connection->stream_fd); // the relay must see the end of the agent
  if (agent < 0) return false;
  connection->agent = agent;
  connection->is_session = true;
  answer(connection, &(struct rd_relay_message){.type = RD_RELAY_ADMITTED});
  return true;
}

void rd_client_session_refuse(struct rd_client_session *connection, const char *reason) {
  struct rd_relay_message message = {.type = RD_RELAY_REFUSED};
  snprintf(message.text, sizeof message.text, "%s", reason);
  answer(connection, &message);
}

void rd_client_session_end(struct rd_client_session *connection) {
  connection->is_ending = true;
  if (connection->relay > 0) kill(connection->relay, SIGKILL);
}

static pid_t start_relay(const struct rd_relay *relay) {
  pid_t pid = fork();
  if (pid == 0) run_relay(relay);
  return pid;
}

// Closes the descriptors of other connections: each connection must see its own end.
static _Noreturn void run_relay(const struct rd_relay *relay) {
  struct rd_relay own = *relay;
  int *const fds[] = {&own.socket_fd, &own.server_fd, &own.agent_fd};
  setsid(); // signals for the server's group are not meant for its sessions
  for (size_t i = 0; i < 3; i++) *fds[i] = fcntl(*fds[i], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
  for (int i = 0; i < 3; i++) *fds[i] = dup3(*fds[i], RELAY_FDS + i, O_CLOEXEC);
  if (own.agent_fd != RELAY_FDS + 2 || !close_from(RELAY_FDS + 3)) _exit(EXIT_FAILURE);
  for (int fd = STDERR_FILENO + 1; fd < RELAY_FDS; fd++) close(fd);
  signal(SIGTERM, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  rd_relay_run(&own);
}

static bool close_from(int first) {
  if (syscall(SYS_close_range, (unsigned)first, UINT_MAX, 0) == 0) return true;
  struct rlimit limit; // before Linux 5.9
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > (1 << 20)) return false;
  for (int fd = first; fd < (int)limit.rlim_cur; fd++) close(fd);
  return true;
}

// Sets the variable as sshd does for its sessions: the plan reads from it the address at which the server was reached.
static void describe(struct rd_client_session *connection, int socket_fd) {
  struct rd_socket_address peer = {.bytes = sizeof peer.address}, own = {.bytes = sizeof own.address};
  char own_text[RD_SOCKET_ADDRESS_TEXT_BYTES], host[64], port[8], own_host[64], own_port[8];
  getpeername(socket_fd, (struct sockaddr *)&peer.address, &peer.bytes);
  getsockname(socket_fd, (struct sockaddr *)&own.address, &own.bytes);
  rd_socket_address_text(&peer, connection->peer);
  read_network(&peer, connection->network);
  rd_socket_address_text(&own, own_text);
  split(connection->peer, host, port, sizeof host);
  split(own_text, own_host, own_port, sizeof own_host);
  snprintf(connection->ssh_connection, sizeof connection->ssh_connection, "%s %s %s %s", host, port, own_host,
           own_port);
}

// One host may have all addresses of an IPv6 network of 64 bits. An IPv4 address is that of a socket for both families.
static void read_network(const struct rd_socket_address *peer, unsigned char network[static RD_NETWORK_BYTES]) {
  const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)&peer->address;
  const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)&peer->address;
  memset(network, 0, RD_NETWORK_BYTES);
  if (peer->address.ss_family == AF_INET)
    memcpy(network, &ipv4->sin_addr, sizeof ipv4->sin_addr);
  else if (peer->address.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr))
    memcpy(network, &ipv6->sin6_addr.s6_addr[12], 4);
  else if (peer->address.ss_family == AF_INET6)
    memcpy(network, &ipv6->sin6_addr, RD_NETWORK_BYTES);
}

// Splits "[::1]:40000" or "10.0.0.1:40000".
static void split(const char *text, char *host, char *port, size_t bytes) {
  const char *colon = strrchr(text, ':');
  size_t length = colon != NULL ? (size_t)(colon - text) : 0;
  if (length >= 2 && text[0] == '[') text++, length -= 2;
  snprintf(host, bytes, "%.*s", (int)length, text);
  snprintf(port, 8, "%s", colon != NULL ? colon + 1 : "0");
}

static void answer(const struct rd_client_session *connection, const struct rd_relay_message *message) {
  send(connection->message_fd, message, sizeof *message, MSG_NOSIGNAL);
}
