// SPDX-License-Identifier: Apache-2.0
#include "gather/gather.h"

#include "gather/merge.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_INPUT_FD 3
#define INPUTS_MAX 10000

static bool read_arguments(int argc, char **argv, struct rd_merge_settings *settings);

int rd_gather_main(int argc, char **argv) {
  struct rd_merge_settings settings = {.first_fd = FIRST_INPUT_FD, .out_fd = STDOUT_FILENO};
  if (!read_arguments(argc, argv, &settings)) {
    fputs("Usage: rdgather lines|concat INPUTS [LABEL...] (rdstage starts this program)\n", stderr);
    return 2;
  }
  rd_sandbox_enter(&(struct rd_syscall_profile){0});
  rd_sandbox_close(NULL, -1);
  if (rd_merge(&settings)) return 0;
  fprintf(stderr, "rdgather: %s\n", strerror(errno));
  return 1;
}

static bool read_arguments(int argc, char **argv, struct rd_merge_settings *settings) {
  char *end;
  if (argc < 3) return false;
  settings->by_host = strcmp(argv[1], "concat") == 0;
  long count = strtol(argv[2], &end, 10);
  bool is_count = *end == '\0' && count >= 1 && count <= INPUTS_MAX;
  bool has_labels = argc > 3;
  if ((!settings->by_host && strcmp(argv[1], "lines") != 0) || !is_count || (has_labels && argc != 3 + count))
    return false;
  settings->count = (size_t)count;
  settings->labels = has_labels ? (const char *const *)&argv[3] : NULL;
  return true;
}
