// SPDX-License-Identifier: Apache-2.0
// The rdtree that sends a directory, or writes to one, where the command line names that as FILE.
#ifndef RD_CLI_TREE_PROGRAM_H
#define RD_CLI_TREE_PROGRAM_H

#include "cli/options.h"

#include <limits.h>

#define RD_TREE_FAILED_PATHS 23 // its exit status: some paths failed, all others arrived

struct rd_tree_program {
  char path[PATH_MAX];
  char *command[4]; // points into this structure
  int settings_fd;  // for its descriptor 3; -1: FILE is no directory, and nothing is to be run
};

// FILE is a directory; for rdrecv also a path that ends with `/`. False: RD_CODE_USAGE, or rdtree cannot be run
// (RD_CODE_INTERNAL). Close with rd_tree_program_close() in any case.
bool rd_tree_program_open(struct rd_tree_program *program, const struct rd_options *options, struct rd_error *error);
void rd_tree_program_close(struct rd_tree_program *program);

#endif
