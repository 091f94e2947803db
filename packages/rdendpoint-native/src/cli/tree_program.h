// SPDX-License-Identifier: Apache-2.0
// The rdtree that sends or writes a directory if FILE on the command line is one.
#ifndef RD_CLI_TREE_PROGRAM_H
#define RD_CLI_TREE_PROGRAM_H

#include "cli/options.h"

#include <limits.h>

#define RD_TREE_FAILED_PATHS 23 // rdtree's exit status if some paths failed and all others arrived

struct rd_tree_program {
  char path[PATH_MAX];
  char *command[4]; // pointers into this structure
  int settings_fd;  // becomes its descriptor 3; -1: FILE is not a directory, and rdtree does not run
};

// Prepares rdtree if FILE is a directory; for rdrecv also if it ends with `/`. Returns false on a usage error
// (RD_CODE_USAGE) or if rdtree cannot run (RD_CODE_INTERNAL). In any case close with rd_tree_program_close().
bool rd_tree_program_open(struct rd_tree_program *program, const struct rd_options *options, struct rd_error *error);
void rd_tree_program_close(struct rd_tree_program *program);

#endif
