// SPDX-License-Identifier: Apache-2.0
#include "host/program_offer.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/listening.h"
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES_MAX 16u
#define CLIENTS_MAX 16
// For the token, and for the programs: a client that takes longer is refused.
#define TOKEN_WITHIN_S 5
#define SENT_WITHIN_S 120

typedef char token_line[RD_PROGRAM_OFFER_TOKEN_CHARACTERS + 1];

struct offered {
  int fds[FILES_MAX];
  size_t count;
};

static void close_files(struct offered *files);
static bool open_files(char **paths, struct offered *files, struct rd_error *error);
static bool read_token(token_line token, struct rd_error *error);
static void serve(int listener, int signal_fd, int idle_ms, const token_line token, const struct offered *files);
static bool end_was_signalled(int signal_fd, int *clients);
static bool start_client(int listener, const token_line token, const struct offered *files);
static _Noreturn void serve_client(int client, const token_line token, const struct offered *files);
static bool is_token(const token_line got, const token_line token);

bool rd_program_offer_run(const struct rd_program_offer *offer, struct rd_error *error) {
  RD_AUTO(close_files) struct offered files = {.count = 0};
  RD_AUTO_CLOSE int signal_fd = rd_spawn_signals(error);
  if (signal_fd < 0 || !open_files(offer->files, &files, error)) return false;
  RD_AUTO_CLOSE int listener = rd_listen_everywhere(offer->low_port, offer->high_port);
  if (listener < 0) {
    rd_error_set_errno(error, RD_CODE_CANNOT_CONNECT, "cannot listen for other hosts");
    return false;
  }
  printf("\nrdpipe %s offering %d\n", offer->nonce, rd_listening_port(listener));
  fflush(stdout);
  token_line token;
  if (!read_token(token, error)) return false;
  serve(listener, signal_fd, offer->idle_ms, token, &files);
  return true;
}

static void close_files(struct offered *files) {
  for (size_t i = 0; i < files->count; i++) close(files->fds[i]);
}

static bool open_files(char **paths, struct offered *files, struct rd_error *error) {
  for (; *paths != NULL; paths++) {
    struct stat status;
    if (files->count == FILES_MAX) {
      rd_error_set(error, RD_CODE_USAGE, "more than %u programs", FILES_MAX);
      return false;
    }
    RD_AUTO_CLOSE int fd = open(*paths, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode)) {
      rd_error_set(error, RD_CODE_SOURCE_UNREADABLE, "cannot read the program %s", *paths);
      return false;
    }
    files->fds[files->count++] = rd_take_fd(&fd);
  }
  return true;
}

// The token comes on standard input, because every user can read the arguments of a process.
static bool read_token(token_line token, struct rd_error *error) {
  size_t got = 0;
  for (ssize_t count; got < sizeof(token_line); got += (size_t)count) {
    count = rd_read_some(STDIN_FILENO, token + got, sizeof(token_line) - got);
    if (count <= 0) break;
  }
  if (got == sizeof(token_line) && token[got - 1] == '\n') return true;
  rd_error_set(error, RD_CODE_USAGE, "--offer needs a token on standard input");
  return false;
}

// At the end the processes of clients end with this one.
static void serve(int listener, int signal_fd, int idle_ms, const token_line token, const struct offered *files) {
  int clients = 0;
  for (;;) {
    struct pollfd polled[] = {
        {.fd = STDIN_FILENO, .events = POLLIN},
        {.fd = signal_fd, .events = POLLIN},
        {.fd = clients < CLIENTS_MAX ? listener : -1, .events = POLLIN},
    };
    int ready = poll(polled, 3, idle_ms);
    if (ready == 0 || (ready < 0 && errno != EINTR)) break;
    if (ready < 0) continue;
    if (polled[0].revents) break; // nothing follows the token but the end
    if (polled[1].revents && end_was_signalled(signal_fd, &clients)) break;
    if (polled[2].revents && start_client(listener, token, files)) clients++;
  }
}

// Also takes clients that have ended off the count.
static bool end_was_signalled(int signal_fd, int *clients) {
  bool is_end = false;
  struct signalfd_siginfo info;
  while (read(signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
    if (info.ssi_signo != SIGCHLD) is_end = true;
  while (*clients > 0 && waitpid(-1, NULL, WNOHANG) > 0) --*clients;
  return is_end;
}

// Returns true if a process serves the next client.
static bool start_client(int listener, const token_line token, const struct offered *files) {
  RD_AUTO_CLOSE int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (client < 0) return false;
  pid_t parent = getpid();
  pid_t pid = fork();
  if (pid != 0) return pid > 0;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  close(listener);
  serve_client(client, token, files);
}

static _Noreturn void serve_client(int client, const token_line token, const struct offered *files) {
  token_line got;
  alarm(TOKEN_WITHIN_S);
  if (recv(client, got, sizeof got, MSG_WAITALL) != (ssize_t)sizeof got || !is_token(got, token)) _exit(1);
  alarm(SENT_WITHIN_S);
  for (size_t i = 0; i < files->count; i++) {
    // Each client has its own position: all of them share the descriptors.
    ssize_t sent = 1;
    for (off_t at = 0; sent > 0;) sent = sendfile(client, files->fds[i], &at, 1 << 20);
    if (sent < 0) _exit(1);
  }
  _exit(0);
}

// Takes the same time for each token.
static bool is_token(const token_line got, const token_line token) {
  unsigned char differs = 0;
  for (size_t i = 0; i < sizeof(token_line); i++) differs |= (unsigned char)(got[i] ^ token[i]);
  return differs == 0;
}
