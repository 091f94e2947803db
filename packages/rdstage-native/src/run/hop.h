// SPDX-License-Identifier: Apache-2.0
// One end of a hop or of a local link: an rdsend or an rdrecv, and the file that it may open.
#ifndef RD_STAGE_HOP_H
#define RD_STAGE_HOP_H

#include "base/usage.h"
#include "run/agent.h"
#include "run/hop_program.h"
#include "run/path_expansion.h"

struct rd_hop;

// Callbacks to the link that owns this end.
struct rd_hop_handler {
  void (*changed)(void *context); // the end is ready, or over
  void (*end)(void *context);     // rdrecv: everything is written; the consumer may see the end of file
  // The program has reported its result, or died. `well`: delivered, or the reader closed early.
  void (*finished)(void *context, bool well);
  void *context;
};

struct rd_hop {
  struct rd_agent *agent;
  const struct rd_prepare_spec *prepare;
  const struct rd_link_spec *link;
  const struct rd_stage_spec *file; // NULL: the input or output is a descriptor
  enum rd_hop_side side;
  struct rd_hop_handler handler;
  int data_fd, adopt_fd;    // until the program runs; borrowed
  struct rd_ring_fds relay; // the same
  struct rd_ring_fds ring;  // the same
  struct rd_path_expansion *expansion;
  struct rd_hop_program *program;
  json_t *early;      // requests to connect that arrived before the program was started; NULL: none
  bool ready;         // the input or output is open; an end of a local link: joined to the other end
  bool aborted;       // the supervisor aborted it: later failures are a consequence, not a cause
  bool exit_expected; // likewise, death by a signal is not counted as its own failure
  bool finished;      // the result was reported
  bool over;          // the program was reaped, or never started
};

// Borrows all arguments but `handler`, which is copied. Never NULL.
struct rd_hop *rd_hop_create(struct rd_agent *agent, const struct rd_prepare_spec *prepare,
                             const struct rd_link_spec *link, enum rd_hop_side side,
                             const struct rd_hop_handler *handler);
void rd_hop_destroy(struct rd_hop *hop); // NULL-safe

// Begins to make the end ready. A failure is emitted, and the end is then over. The descriptors are borrowed until the
// end is ready or over. `adopt_fd`: a connected socket to the other end; -1: the end will listen or dial.
void rd_hop_open(struct rd_hop *hop, int data_fd, int adopt_fd);
// Call before rd_hop_open(). The other end of the relay is the other hop program of this chain on this host.
void rd_hop_set_relay(struct rd_hop *hop, struct rd_ring_fds relay);
// Call before rd_hop_open(). The other side of the ring is the program of a copy at the other end of its pipe.
void rd_hop_set_ring(struct rd_hop *hop, struct rd_ring_fds ring);
// Passes on a request (listen, dial, show or last; borrowed). May be called before the end is ready.
void rd_hop_connect(struct rd_hop *hop, json_t *request);
void rd_hop_rejoin(struct rd_hop *hop, const json_t *request); // a new peer replaces a lost one
void rd_hop_consumer(struct rd_hop *hop, pid_t pid);           // sets the process group that reads rdrecv's output
void rd_hop_commit(struct rd_hop *hop, int status);            // the producer ended well, with this status
void rd_hop_abort(struct rd_hop *hop, const char *reason);     // idempotent
void rd_hop_expect_exit(struct rd_hop *hop);                   // the program may be killed from now on
void rd_hop_release(struct rd_hop *hop);                       // rdrecv's output has no reader any more

pid_t rd_hop_pid(const struct rd_hop *hop); // pid of the program; -1: none is running
// Handles every message that has arrived from the program.
void rd_hop_drain(struct rd_hop *hop);
// Returns true if the child was a process of this end.
bool rd_hop_child_ended(struct rd_hop *hop, pid_t pid, int status, const struct rd_usage *usage);

#endif
