// SPDX-License-Identifier: Apache-2.0
// A running rdsend or rdrecv, and its socket to the supervisor (docs/protocol/hop-agent.md, section 3).
#ifndef RD_STAGE_HOP_PROGRAM_H
#define RD_STAGE_HOP_PROGRAM_H

#include "ring/shared_ring.h"
#include "run/agent.h"

#include <sys/types.h>

// Called with every object that the program sends (borrowed).
typedef void rd_hop_program_function(void *context, json_t *event);

struct rd_hop_program_setup {
  enum rd_hop_side side;    // selects the program
  bool rdma;                // needs the libraries of RDMA
  int data_fd;              // its input or output; borrowed
  int adopt_fd;             // a connected socket, passed on as RD_HOP_PROGRAM_ADOPT_FD; -1: none; borrowed
  struct rd_ring_fds relay; // on a host in a chain; borrowed
  struct rd_ring_fds ring;  // with the program of a copy at its input or output; borrowed
  rd_hop_program_function *function;
  void *context;
};

// Numbers of the descriptors that are passed to the program if they exist.
#define RD_HOP_PROGRAM_ADOPT_FD 4
#define RD_HOP_PROGRAM_RELAY_FDS 5 // its memory, then its bell
#define RD_HOP_PROGRAM_RING_FDS 7

struct rd_hop_program;
// Returns NULL (RD_CODE_INTERNAL) if the program cannot be started.
struct rd_hop_program *rd_hop_program_start(struct rd_agent *agent, const struct rd_hop_program_setup *setup,
                                            struct rd_error *error);
// Closes the socket, which ends a program that is still running. NULL-safe.
void rd_hop_program_destroy(struct rd_hop_program *program);

// Returns -1 after the program was reaped.
pid_t rd_hop_program_pid(const struct rd_hop_program *program);
const char *rd_hop_program_name(enum rd_hop_side side);
// Queues one object and gives up the reference.
void rd_hop_program_send(struct rd_hop_program *program, json_t *message);
// Returns true if the program has closed its socket, which happens first when the program dies.
bool rd_hop_program_has_left(const struct rd_hop_program *program);
// The program was reaped and is not signalled again. Handles its last messages.
void rd_hop_program_ended(struct rd_hop_program *program);
// Handles every message that has arrived.
void rd_hop_program_drain(struct rd_hop_program *program);

#endif
