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
#define ARGUMENTS 3
#define ARGUMENTS_SERVED 5
#define SETTINGS_MAX_BYTES (64u << 20)
#define SETTINGS_FD 3 // opened by the program that starts this one
#define ROOT_FD 4     // the directory that a server serves, opened by its agent
#define SHARES_FD 4   // role unite: the first of one descriptor per target, for the targets' decisions

static bool takes_settings(int argc, char **argv);
static char *read_settings(int fd, size_t *bytes, struct rd_error *error);
static bool run(const struct rd_tree_settings *settings, struct rd_error *error);

static const char help[] = "Usage: rdtree --settings-fd 3 [--beneath 4]\n"
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
  if (!takes_settings(argc, argv)) {
    fputs(help, stderr);
    return STATUS_USAGE;
  }
  signal(SIGPIPE, SIG_IGN);
  rd_harden_process();
  size_t bytes;
  RD_AUTO_FREE char *text = read_settings(SETTINGS_FD, &bytes, &error);
  struct rd_tree_settings *settings = text == NULL ? NULL : rd_tree_settings_decode(text, bytes, &error);
  bool is_served = argc == ARGUMENTS_SERVED;
  if (is_served) rd_root_set(ROOT_FD); // confines paths: see rd_root_open()
  rd_descriptor_limit_raise();         // each level of a tree needs one
  if (settings != NULL) rd_tree_confine(settings, is_served ? ROOT_FD : -1);
  if (settings != NULL) rd_lines_begin(settings);
  bool is_done = settings != NULL && run(settings, &error);
  bool has_failures = is_done && settings->alone && rd_events_failures() > 0;
  rd_tree_settings_destroy(settings);
  if (is_done) return has_failures ? STATUS_FAILED_PATHS : EXIT_SUCCESS;
  rd_events_fatal(&error);
  return rd_code_status(error.code);
}

static bool takes_settings(int argc, char **argv) {
  if (argc != ARGUMENTS && argc != ARGUMENTS_SERVED) return false;
  bool is_served = argc == ARGUMENTS_SERVED;
  return strcmp(argv[1], "--settings-fd") == 0 && strcmp(argv[2], "3") == 0 &&
         (!is_served || (strcmp(argv[3], "--beneath") == 0 && strcmp(argv[4], "4") == 0));
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

static bool run(const struct rd_tree_settings *settings, struct rd_error *error) {
  rd_pipe_grow(STDIN_FILENO);
  rd_pipe_grow(STDOUT_FILENO);
  switch (settings->role) {
  case RD_TREE_SCAN:
    return rd_tree_scan(settings, STDIN_FILENO, STDOUT_FILENO, error);
  case RD_TREE_COMPARE:
    return rd_tree_compare(settings, STDIN_FILENO, STDOUT_FILENO, error);
  case RD_TREE_READ:
    return rd_tree_read(settings, STDIN_FILENO, STDOUT_FILENO, error);
  case RD_TREE_WRITE:
  case RD_TREE_COPY:
    return rd_tree_write(settings, STDIN_FILENO, STDOUT_FILENO, error);
  case RD_TREE_CLEAN:
    return rd_tree_clean(settings, STDIN_FILENO, STDOUT_FILENO, error);
  case RD_TREE_SEND:
    return rd_tree_send(settings, STDOUT_FILENO, error);
  case RD_TREE_UNITE:
    return rd_tree_unite(settings, SHARES_FD, STDOUT_FILENO, error);
  }
  return false;
}
