// SPDX-License-Identifier: Apache-2.0
// A running rdsend or rdrecv and the socket between it and us (docs/protocol.md, section 3).
#ifndef RD_STAGE_PROGRAM_H
#define RD_STAGE_PROGRAM_H

#include "agent.h"

#include <sys/types.h>

// Every object that the program says; borrowed.
typedef void program_function(void *context, json_t *event);

struct program_setup {
  enum hop_end end; // which program
  int data_fd;      // its input or output; borrowed
  int adopt_fd;     // a connected socket for it, which it gets as PROGRAM_ADOPT_FD; -1: none; borrowed
  program_function *function;
  void *context;
};

#define PROGRAM_ADOPT_FD 4

struct program;
// NULL (RD_CODE_INTERNAL) when it cannot be started.
struct program *program_start(struct agent *agent, const struct program_setup *setup, struct rd_error *error);
// Closes the socket. A program that still runs then ends by itself. NULL-safe.
void program_destroy(struct program *program);

pid_t program_pid(const struct program *program);
const char *program_name(enum hop_end end);
// Queues one object and gives up the reference.
void program_tell(struct program *program, json_t *message);
// Takes everything that it has said so far.
void program_drain(struct program *program);

#endif
