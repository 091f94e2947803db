// SPDX-License-Identifier: Apache-2.0
#include "gather/gather.h"

#include "gather/fold.h"
#include "gather/merge.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_INPUT_FD 3
#define INPUTS_MAX 10000

#define STATUS_FAILED 125 // rdpipe's own, not that of a command

static bool read_arguments(int argc, char **argv, struct rd_merge_settings *settings, bool *is_fold);

int rd_gather_main(int argc, char **argv) {
  bool is_fold;
  struct rd_error error;
  struct rd_merge_settings settings = {.first_fd = FIRST_INPUT_FD, .out_fd = STDOUT_FILENO};
  if (!read_arguments(argc, argv, &settings, &is_fold)) {
    fputs("Usage: rdgather lines|concat|fold INPUTS [LABEL...] (rdstage starts this program)\n", stderr);
    return 2;
  }
  rd_sandbox_enter_closed();
  if (is_fold ? rd_fold(&settings, &error) : rd_merge(&settings, &error)) return 0;
  fprintf(stderr, "rdgather: %s\n", error.message);
  return STATUS_FAILED;
}

static bool read_arguments(int argc, char **argv, struct rd_merge_settings *settings, bool *is_fold) {
  char *end;
  if (argc < 3) return false;
  settings->by_host = strcmp(argv[1], "concat") == 0;
  *is_fold = strcmp(argv[1], "fold") == 0;
  long count = strtol(argv[2], &end, 10);
  bool is_count = *end == '\0' && count >= 1 && count <= INPUTS_MAX;
  bool has_labels = argc > 3;
  bool is_mode = settings->by_host || *is_fold || strcmp(argv[1], "lines") == 0;
  if (!is_mode || !is_count || (has_labels ? argc != 3 + count : *is_fold)) return false;
  settings->count = (size_t)count;
  settings->labels = has_labels ? (const char *const *)&argv[3] : NULL;
  return true;
}
