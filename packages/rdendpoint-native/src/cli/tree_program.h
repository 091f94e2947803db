// SPDX-License-Identifier: Apache-2.0
// The rdtree that sends or writes a directory if FILE on the command line is one.
#ifndef RD_CLI_TREE_PROGRAM_H
#define RD_CLI_TREE_PROGRAM_H

#include "cli/options.h"
#include "ring/shared_ring.h"

#include <limits.h>

#define RD_TREE_FAILED_PATHS 23 // rdtree's exit status if some paths failed and all others arrived

struct rd_tree_program {
  char path[PATH_MAX];
  char *command[6];        // pointers into this structure
  int settings_fd;         // becomes its descriptor 3; -1: FILE is not a directory, and rdtree does not run
  struct rd_ring_fds ring; // its side of the ring for the contents of files; becomes its descriptors 4 and 5
  struct rd_ring_fds ours;
};

#define RD_NO_TREE_PROGRAM ((struct rd_tree_program){.settings_fd = -1, .ring = RD_NO_RING_FDS, .ours = RD_NO_RING_FDS})

// Prepares rdtree if FILE is a directory; for rdrecv also if it ends with `/`. Returns false on a usage error
// (RD_CODE_USAGE) or if rdtree cannot run (RD_CODE_INTERNAL). In any case close with rd_tree_program_close().
bool rd_tree_program_open(struct rd_tree_program *program, const struct rd_options *options, struct rd_error *error);
// Call after the fork: closes rdtree's side of the ring, so that its end is noticed.
void rd_tree_program_forked(struct rd_tree_program *program);
void rd_tree_program_close(struct rd_tree_program *program);

#endif
