// SPDX-License-Identifier: Apache-2.0
// Tests of the programs that a host gives to others.
#include "base/cleanup.h"
#include "base/io.h"
#include "host/program_offer.h"
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOKEN "0123456789abcdef0123456789abcdef\n"
#define FIRST_BYTES 3000000u
#define SECOND_BYTES 5u
#define CLIENTS 40
#define HANG_MS 60000

static char directory[] = "/tmp/rdpipe-unit-XXXXXX";
static char first_path[64], second_path[64];

struct offering {
  pid_t pid;
  int input_fd, output_fd;
  int port; // 0: it has none
};

static void write_file(const char *path, char byte, size_t count) {
  FILE *file = fopen(path, "w");
  REQUIRE(file != NULL);
  for (size_t i = 0; i < count; i++) putc(byte, file);
  REQUIRE(!fclose(file));
}

static void start_for(struct offering *offering, char **files, uint16_t low_port, uint16_t high_port, int idle_ms) {
  int input[2], output[2];
  REQUIRE(!pipe(input) && !pipe(output));
  offering->pid = fork();
  REQUIRE(offering->pid >= 0);
  if (offering->pid == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    for (int i = 0; i < 2; i++) close(input[i]), close(output[i]);
    struct rd_error error;
    struct rd_program_offer offer = {
        .nonce = "abc", .low_port = low_port, .high_port = high_port, .idle_ms = idle_ms, .files = files};
    _exit(rd_program_offer_run(&offer, &error) ? 0 : 1);
  }
  close(input[0]);
  close(output[1]);
  offering->input_fd = input[1];
  offering->output_fd = output[0];
  char said[64] = "";
  offering->port = 0;
  if (read(offering->output_fd, said, sizeof said - 1) > 0)
    REQUIRE(sscanf(said, "\nrdpipe abc offering %d\n", &offering->port) == 1);
}

static void start(struct offering *offering, char **files, uint16_t low_port, uint16_t high_port) {
  start_for(offering, files, low_port, high_port, HANG_MS);
}

// Returns the exit status after the end of its input.
static int end(struct offering *offering) {
  close(offering->input_fd);
  close(offering->output_fd);
  int status = -1;
  REQUIRE(waitpid(offering->pid, &status, 0) == offering->pid);
  return WEXITSTATUS(status);
}

static int dial(int port, const char *token) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(fd >= 0);
  if (connect(fd, (struct sockaddr *)&address, sizeof address)) {
    close(fd);
    return -1;
  }
  REQUIRE(rd_write_all(fd, token, strlen(token)) && !shutdown(fd, SHUT_WR));
  return fd;
}

// True if the rest of the connection is the contents of both files.
static bool gets_programs(int fd) {
  size_t got = 0;
  bool is_right = true;
  char bytes[65536];
  for (ssize_t count; (count = read(fd, bytes, sizeof bytes)) > 0;)
    for (ssize_t i = 0; i < count; i++) is_right &= bytes[i] == (got++ < FIRST_BYTES ? 'a' : 'b');
  return is_right && got == FIRST_BYTES + SECOND_BYTES;
}

static bool gets_nothing(int fd) {
  char byte;
  return read(fd, &byte, 1) <= 0;
}

static void test_clients(void) {
  struct offering offering;
  start(&offering, (char *[]){first_path, second_path, NULL}, 0, 0);
  REQUIRE(offering.port > 0);
  RD_AUTO_CLOSE int early = dial(offering.port, TOKEN); // is served when the token is known
  REQUIRE(rd_write_all(offering.input_fd, TOKEN, strlen(TOKEN)));
  CHECK(gets_programs(early));
  static const char *const wrong[] = {"1123456789abcdef0123456789abcdef\n",
                                      "0123456789abcdef0123456789abcdeg\n",
                                      "0123456789abcdef0123456789abcdef ",
                                      "short\n",
                                      "\n",
                                      ""};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    RD_AUTO_CLOSE int fd = dial(offering.port, wrong[i]);
    CHECK(gets_nothing(fd));
  }
  int fds[CLIENTS]; // more than are served at a time
  for (int i = 0; i < CLIENTS; i++) fds[i] = dial(offering.port, TOKEN);
  for (int i = 0; i < CLIENTS; i++) {
    CHECK(gets_programs(fds[i]));
    close(fds[i]);
  }
  RD_AUTO_CLOSE int unfinished = dial(offering.port, TOKEN); // it does not read
  CHECK(end(&offering) == 0);
  CHECK(dial(offering.port, TOKEN) < 0);
}

// Its input stays open, as in a session whose network is gone.
static void test_end_without_clients(void) {
  struct offering offering;
  start_for(&offering, (char *[]){first_path, NULL}, 0, 0, 1);
  REQUIRE(rd_write_all(offering.input_fd, TOKEN, strlen(TOKEN)));
  int status = -1;
  CHECK(waitpid(offering.pid, &status, 0) == offering.pid && status == 0);
  close(offering.input_fd);
  close(offering.output_fd);
}

static void test_ports(void) {
  struct offering first, second, third;
  char *files[] = {first_path, NULL};
  start(&first, files, 0, 0);
  REQUIRE(first.port > 0 && first.port < 65535);
  start(&second, files, (uint16_t)first.port, (uint16_t)first.port);
  CHECK(second.port == 0 && end(&second) == 1); // taken
  start(&third, files, (uint16_t)first.port, 65535);
  CHECK(third.port > first.port);
  CHECK(end(&third) == 1 && end(&first) == 1); // their input had no token
}

static void test_refusals(void) {
  struct offering offering;
  char missing[80];
  snprintf(missing, sizeof missing, "%s/missing", directory);
  start(&offering, (char *[]){first_path, missing, NULL}, 0, 0);
  CHECK(offering.port == 0 && end(&offering) == 1);
  start(&offering, (char *[]){directory, NULL}, 0, 0);
  CHECK(offering.port == 0 && end(&offering) == 1);
  start(&offering, (char *[]){first_path, NULL}, 0, 0);
  REQUIRE(rd_write_all(offering.input_fd, "0123456789abcdef0123456789abcdef0\n", 34));
  CHECK(end(&offering) == 1);
}

int main(void) {
  REQUIRE(mkdtemp(directory) != NULL);
  snprintf(first_path, sizeof first_path, "%s/first", directory);
  snprintf(second_path, sizeof second_path, "%s/second", directory);
  write_file(first_path, 'a', FIRST_BYTES);
  write_file(second_path, 'b', SECOND_BYTES);
  signal(SIGPIPE, SIG_IGN);
  test_clients();
  test_end_without_clients();
  test_ports();
  test_refusals();
  remove(first_path);
  remove(second_path);
  remove(directory);
  return test_end("rdstage program_offer");
}
