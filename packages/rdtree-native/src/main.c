// SPDX-License-Identifier: Apache-2.0
// rdtree: scans, compares, reads or writes a tree, as one program of a copy
#include "base/cleanup.h"
#include "base/descriptor_limit.h"
#include "base/io.h"
#include "base/memory.h"
#include "clean/clean.h"
#include "compare/compare.h"
#include "confinement.h"
#include "entry/root.h"
#include "read/read.h"
#include "report/events.h"
#include "report/lines.h"
#include "sandbox/hardening.h"
#include "scan/scan.h"
#include "send/send.h"
#include "unite/unite.h"
#include "write/write.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_USAGE 2
#define STATUS_FAILED_PATHS 23
#define SETTINGS_MAX_BYTES (64u << 20)
#define SETTINGS_FD 3 // opened by the program that starts this one
#define ROOT_FD 4     // the directory that a server serves, opened by its agent
#define SHARES_FD 4   // role unite: the first of one descriptor per target, for the targets' decisions

struct arguments {
  bool is_served;
  int ring_fd; // the memory of the ring for the contents of files; its bell is the next one; -1: there is none
};

static bool read_arguments(int argc, char **argv, struct arguments *arguments);
static bool is_option(char **argv, const char *name, int fd);
static char *read_settings(int fd, size_t *bytes, struct rd_error *error);
static bool run(const struct rd_tree_settings *settings, int ring_fd, struct rd_error *error);
static bool run_role(const struct rd_tree_settings *settings, struct rd_shared_ring *shared, struct rd_error *error);

static const char help[] = "Usage: rdtree --settings-fd 3 [--beneath 4] [--ring 4|5]\n"
                           "\n"
                           "rdstage, rdsend and rdrecv start this program for a copy; see rdtree(1).\n"
                           "\n"
                           "  -V, --version   print the version\n"
                           "  -h, --help      print this help\n";

int main(int argc, char **argv) {
  struct rd_error error;
  if (argc == 2 && (strcmp(argv[1], "-V") == 0 || strcmp(argv[1], "--version") == 0))
    return puts("rdtree " RD_VERSION) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
  bool wants_help = argc == 2 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0);
  if (wants_help) return fputs(help, stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
  struct arguments arguments;
  if (!read_arguments(argc, argv, &arguments)) {
    fputs(help, stderr);
    return STATUS_USAGE;
  }
  signal(SIGPIPE, SIG_IGN);
  rd_harden_process();
  size_t bytes;
  RD_AUTO_FREE char *text = read_settings(SETTINGS_FD, &bytes, &error);
  struct rd_tree_settings *settings = text == NULL ? NULL : rd_tree_settings_decode(text, bytes, &error);
  if (arguments.is_served) rd_root_set(ROOT_FD); // confines paths: see rd_root_open()
  rd_descriptor_limit_raise();                   // each level of a tree needs one
  if (settings != NULL) rd_tree_confine(settings, arguments.is_served ? ROOT_FD : -1);
  if (settings != NULL) rd_lines_begin(settings);
  bool is_done = settings != NULL && run(settings, arguments.ring_fd, &error);
  bool has_failures = is_done && settings->alone && rd_events_failures() > 0;
  rd_tree_settings_destroy(settings);
  if (is_done) return has_failures ? STATUS_FAILED_PATHS : EXIT_SUCCESS;
  rd_events_fatal(&error);
  return rd_code_status(error.code);
}

// Each option once, in this order.
static bool read_arguments(int argc, char **argv, struct arguments *arguments) {
  char **next = argv + 1;
  *arguments = (struct arguments){0};
  if (!is_option(next, "--settings-fd", SETTINGS_FD)) return false;
  next += 2;
  arguments->is_served = is_option(next, "--beneath", ROOT_FD);
  if (arguments->is_served) next += 2;
  arguments->ring_fd = arguments->is_served ? ROOT_FD + 1 : SETTINGS_FD + 1;
  if (is_option(next, "--ring", arguments->ring_fd))
    next += 2;
  else
    arguments->ring_fd = -1;
  return next == argv + argc;
}

static bool is_option(char **argv, const char *name, int fd) {
  char number[12];
  snprintf(number, sizeof number, "%d", fd);
  return argv[0] != NULL && argv[1] != NULL && strcmp(argv[0], name) == 0 && strcmp(argv[1], number) == 0;
}

// Returns NULL if the settings could not be read completely.
static char *read_settings(int fd, size_t *bytes, struct rd_error *error) {
  size_t room = 1 << 16, filled = 0;
  char *text = rd_memory_new(room, 1);
  for (;;) {
    ssize_t count = rd_read_some(fd, text + filled, room - filled);
    filled += count > 0 ? (size_t)count : 0;
    if (count == 0) break;
    if (filled == SETTINGS_MAX_BYTES) errno = E2BIG;
    if (count < 0 || filled == SETTINGS_MAX_BYTES) {
      rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot read the settings");
      free(text);
      return NULL;
    }
    if (filled == room) text = rd_memory_resize(text, room *= 2, 1);
  }
  close(fd);
  *bytes = filled;
  return text;
}

static bool run(const struct rd_tree_settings *settings, int ring_fd, struct rd_error *error) {
  struct rd_shared_ring *shared = NULL;
  if (ring_fd >= 0) {
    enum rd_ring_side side = rd_tree_role_takes_contents(settings->role) ? RD_RING_READER : RD_RING_WRITER;
    shared = rd_shared_ring_open(side, (struct rd_ring_fds){ring_fd, ring_fd + 1}, error);
    if (shared == NULL) return false;
  }
  bool is_done = run_role(settings, shared, error);
  rd_shared_ring_destroy(shared);
  return is_done;
}

static bool run_role(const struct rd_tree_settings *settings, struct rd_shared_ring *shared, struct rd_error *error) {
  rd_pipe_grow(STDIN_FILENO);
  rd_pipe_grow(STDOUT_FILENO);
  switch (settings->role) {
  case RD_TREE_SCAN:
    return rd_tree_scan(settings, STDIN_FILENO, STDOUT_FILENO, error);
  case RD_TREE_COMPARE:
    return rd_tree_compare(settings, STDIN_FILENO, STDOUT_FILENO, error);
  case RD_TREE_READ:
    return rd_tree_read(settings, STDIN_FILENO, STDOUT_FILENO, shared, error);
  case RD_TREE_WRITE:
  case RD_TREE_COPY:
    return rd_tree_write(settings, STDIN_FILENO, STDOUT_FILENO, shared, error);
  case RD_TREE_CLEAN:
    return rd_tree_clean(settings, STDIN_FILENO, STDOUT_FILENO, error);
  case RD_TREE_SEND:
    return rd_tree_send(settings, STDOUT_FILENO, shared, error);
  case RD_TREE_UNITE:
    return rd_tree_unite(settings, SHARES_FD, STDOUT_FILENO, error);
  }
  return false;
}
