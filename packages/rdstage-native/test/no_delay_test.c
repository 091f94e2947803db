// SPDX-License-Identifier: Apache-2.0
// Tests of the delays of TCP on the connection of a child.
#include "base/cleanup.h"
#include "base/io.h"
#include "process/die_with_parent.h"
#include "process/no_delay.h"
#include "test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANG_MS 60000
#define ANSWERS 20

static int listen_on_loopback(struct sockaddr_in *address) {
  *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(!bind(fd, (struct sockaddr *)address, sizeof *address) && !listen(fd, 1));
  REQUIRE(!getsockname(fd, (struct sockaddr *)address, &(socklen_t){sizeof *address}));
  return fd;
}

// Starts a child that connects when its end of `told_fd` gets a byte. It answers some messages, because a kernel delays
// acknowledgements only after such an exchange; then it only tells of each one that it has read it.
static pid_t start_client(const struct sockaddr_in *address, int *told_fd) {
  int pair[2];
  REQUIRE(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair));
  pid_t pid = fork();
  REQUIRE(pid >= 0);
  *told_fd = pair[0];
  if (pid > 0) {
    close(pair[1]);
    return pid;
  }
  close(pair[0]);
  char byte;
  if (read(pair[1], &byte, 1) != 1) _exit(0);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(fd, (const struct sockaddr *)address, sizeof *address)) _exit(1);
  for (int message = 0; read(fd, &byte, 1) == 1; message++) {
    if (write(message < ANSWERS ? fd : pair[1], &byte, 1) != 1) break;
  }
  _exit(0);
}

static void exchange(int server_fd) {
  for (int answer = 0; answer < ANSWERS; answer++) {
    char byte = 'x';
    REQUIRE(write(server_fd, &byte, 1) == 1 && read(server_fd, &byte, 1) == 1);
  }
}

static bool sends_at_once(int fd) {
  int value = 0;
  return !getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &(socklen_t){sizeof value}) && value != 0;
}

static int unacknowledged(int fd) {
  struct tcp_info info;
  REQUIRE(!getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &(socklen_t){sizeof info}));
  return (int)info.tcpi_unacked;
}

// Without the steps, an acknowledgement would wait for something to send, or for 40 ms.
static void check_acknowledgements(struct rd_no_delay *no_delay, int server_fd, int told_fd) {
  for (int message = 0; message < 8; message++) {
    char byte = 'x';
    REQUIRE(write(server_fd, &byte, 1) == 1 && read(told_fd, &byte, 1) == 1);
    CHECK(!rd_no_delay_step(no_delay));
    CHECK(unacknowledged(server_fd) == 0);
  }
}

// Returns the number of steps that were left.
static int check_end(struct rd_no_delay *no_delay) {
  int steps = 0;
  for (; rd_no_delay_timeout_ms(no_delay) >= 0 && steps < 100000; steps++) rd_no_delay_step(no_delay);
  CHECK(steps > 1 && steps < 100000 && no_delay->socket_fd < 0);
  return steps;
}

static void test_connection_of_a_child(void) {
  struct sockaddr_in address;
  RD_AUTO_CLOSE int listener = listen_on_loopback(&address);
  RD_AUTO_CLOSE int told_fd = -1;
  pid_t pid = start_client(&address, &told_fd);
  RD_AUTO(rd_no_delay_end) struct rd_no_delay no_delay;
  rd_no_delay_begin(&no_delay, pid);
  rd_no_delay_step(&no_delay);
  CHECK(no_delay.socket_fd < 0 && rd_no_delay_timeout_ms(&no_delay) > 0); // a listener is not a connection
  REQUIRE(write(told_fd, "x", 1) == 1);
  RD_AUTO_CLOSE int server_fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  REQUIRE(server_fd >= 0);
  exchange(server_fd);
  REQUIRE(rd_no_delay_step(&no_delay) && no_delay.socket_fd >= 0);
  CHECK(sends_at_once(no_delay.socket_fd));
  check_acknowledgements(&no_delay, server_fd, told_fd);
  struct rd_no_delay logged_in = no_delay;
  logged_in.socket_fd = dup(no_delay.socket_fd);
  rd_no_delay_logged_in(&logged_in);
  CHECK(check_end(&logged_in) < check_end(&no_delay));
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  char received;
  CHECK(rd_wait_fd(server_fd, POLLIN, HANG_MS) == 1 && read(server_fd, &received, 1) <= 0);
}

static void test_child_without_connection(void) {
  RD_AUTO_CLOSE int told_fd = -1;
  pid_t pid = start_client(&(struct sockaddr_in){0}, &told_fd);
  RD_AUTO(rd_no_delay_end) struct rd_no_delay no_delay;
  rd_no_delay_begin(&no_delay, pid);
  check_end(&no_delay);
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
  rd_no_delay_begin(&no_delay, pid);
  rd_no_delay_step(&no_delay);
  CHECK(rd_no_delay_timeout_ms(&no_delay) == -1); // the child is dead
}

// A shell as the command: its connection is descriptor 3, as that of ssh, and it tells its process ID.
static void test_die_with_parent(void) {
  struct sockaddr_in address;
  RD_AUTO_CLOSE int listener = listen_on_loopback(&address);
  char script[128];
  snprintf(script, sizeof script, "exec 3<>/dev/tcp/127.0.0.1/%d; echo $$ >&3; read -r nothing <&3",
           ntohs(address.sin_port));
  int output[2];
  REQUIRE(!pipe2(output, O_CLOEXEC));
  RD_AUTO_CLOSE int output_fd = output[0];
  pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    struct rd_error error;
    int status;
    int input[2];
    if (pipe2(input, O_CLOEXEC) || dup2(input[0], STDIN_FILENO) || dup2(output[1], STDOUT_FILENO) < 0) _exit(1);
    _exit(rd_die_with_parent_run((char *[]){"bash", "-c", script, NULL}, &status, &error) ? 0 : 1);
  }
  RD_AUTO_CLOSE int server_fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  char said[32] = "";
  REQUIRE(server_fd >= 0 && read(server_fd, said, sizeof said - 1) > 0);
  RD_AUTO_CLOSE int shell_fd = (int)syscall(SYS_pidfd_open, (pid_t)atoi(said), 0);
  RD_AUTO_CLOSE int connection = (int)syscall(SYS_pidfd_getfd, shell_fd, 3, 0);
  REQUIRE(connection >= 0);
  char line[32] = "";
  REQUIRE(rd_wait_fd(output_fd, POLLIN, HANG_MS) == 1 && read(output_fd, line, sizeof line - 1) > 0);
  CHECK(strcmp(line, "no delay\n") == 0 && sends_at_once(connection));
  REQUIRE(rd_write_all(server_fd, "\n", 1));
  int status = -1;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

int main(void) {
  test_connection_of_a_child();
  test_child_without_connection();
  test_die_with_parent();
  return test_end("rdstage no delay");
}
