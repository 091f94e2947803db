// SPDX-License-Identifier: Apache-2.0
// One end of a hop or of a local link: an rdsend or an rdrecv, and the file that it may open.
#ifndef RD_STAGE_HOP_H
#define RD_STAGE_HOP_H

#include "base/usage.h"
#include "run/agent.h"
#include "run/hop_program.h"
#include "run/path_expansion.h"

struct rd_hop;

// Callbacks to its link.
struct rd_hop_handler {
  void (*changed)(void *context); // it is ready, or over
  void (*end)(void *context);     // rdrecv: everything is written, the consumer may see the end of file
  // Its program has reported its result, or died. `well`: delivered, or the reader closed early.
  void (*finished)(void *context, bool well);
  void *context;
};

struct rd_hop {
  struct rd_agent *agent;
  const struct rd_prepare_spec *prepare;
  const struct rd_link_spec *link;
  const struct rd_stage_spec *file; // NULL: its input or output is a descriptor
  enum rd_hop_side side;
  struct rd_hop_handler handler;
  int data_fd, adopt_fd;     // until the program runs; borrowed
  struct rd_relay_fds relay; // likewise
  struct rd_path_expansion *expansion;
  struct rd_hop_program *program;
  json_t *early;      // commands to connect that came before it was started; NULL: none
  bool ready;         // its input or output is open; of a local link: it is joined to its other end
  bool aborted;       // by us: its failure after that is not its own
  bool exit_expected; // its death by a signal is not a failure of its own either
  bool finished;      // its result was reported
  bool over;          // its program was reaped, or never started
};

struct rd_hop *rd_hop_create(struct rd_agent *agent, const struct rd_prepare_spec *prepare,
                             const struct rd_link_spec *link, enum rd_hop_side side,
                             const struct rd_hop_handler *handler);
void rd_hop_destroy(struct rd_hop *hop); // NULL-safe

// Begins to make it ready; a failure is emitted, and it is over. The descriptors are borrowed until it is ready or
// over. `adopt_fd`: a connected socket to the other end; -1: it will listen or dial.
void rd_hop_open(struct rd_hop *hop, int data_fd, int adopt_fd);
// Before rd_hop_open(): the other end of the relay is the other hop program of this chain here.
void rd_hop_set_relay(struct rd_hop *hop, struct rd_relay_fds relay);
// Passes a request on: listen, dial, show or last; borrowed. Also before it is ready.
void rd_hop_connect(struct rd_hop *hop, json_t *request);
void rd_hop_rejoin(struct rd_hop *hop, const json_t *request); // another peer takes the place of a lost one
void rd_hop_consumer(struct rd_hop *hop, pid_t pid);           // the process group that reads rdrecv's output
void rd_hop_commit(struct rd_hop *hop, int status);            // the producer ended well
void rd_hop_abort(struct rd_hop *hop, const char *reason);     // idempotent
void rd_hop_expect_exit(struct rd_hop *hop);                   // its program may be killed from now on
void rd_hop_release(struct rd_hop *hop);                       // rdrecv's output has no reader any more

pid_t rd_hop_pid(const struct rd_hop *hop); // of the program; -1: none runs
void rd_hop_drain(struct rd_hop *hop);
// True when that child was one of its processes.
bool rd_hop_child_ended(struct rd_hop *hop, pid_t pid, int status, const struct rd_usage *usage);

#endif
