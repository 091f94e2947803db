// SPDX-License-Identifier: Apache-2.0
// This host's part of a link between two stages: its pipes, its ends of hops, its ends of file.
#ifndef RD_STAGE_LINK_H
#define RD_STAGE_LINK_H

#include "run/agent.h"
#include "run/held_write_ends.h"
#include "run/hop.h"

struct rd_link;
struct rd_stage;

struct rd_link_handler {
  void (*changed)(void *context); // an end is ready, or over
  void *context;
};

// Borrows all arguments but `handler`, which is copied. Never NULL.
struct rd_link *rd_link_create(struct rd_agent *agent, const struct rd_prepare_spec *prepare,
                               const struct rd_link_spec *spec, const struct rd_link_handler *handler);
void rd_link_destroy(struct rd_link *link); // NULL-safe
const struct rd_link_spec *rd_link_spec(const struct rd_link *link);
// Set the commands at the ends (borrowed). Call before rd_link_open(). The link becomes the producer's output.
void rd_link_set_producer(struct rd_link *link, struct rd_stage *producer);
void rd_link_set_consumer(struct rd_link *link, struct rd_stage *consumer);

// Call before rd_link_open(). `to` passes on the stream that this link receives. Returns false (RD_CODE_INTERNAL) if
// the two could not be joined.
bool rd_link_join_relay(struct rd_link *link, struct rd_link *to, struct rd_error *error);

// Creates the pipes and begins to make the ends ready. Returns false if a pipe cannot be created.
bool rd_link_open(struct rd_link *link, struct rd_error *error);
// Returns true if every end of the link on this host is ready.
bool rd_link_is_ready(const struct rd_link *link);
// Returns the end on that side, or NULL.
struct rd_hop *rd_link_hop(const struct rd_link *link, enum rd_hop_side side);

// Descriptors that the commands read from and write to; borrowed.
int rd_link_input_fd(const struct rd_link *link);
int rd_link_output_fd(const struct rd_link *link);
// Returns the side of a ring that the stage at this link gets besides its pipe, if there is one; owned by the link.
struct rd_ring_fds *rd_link_ring(struct rd_link *link);
// Call when every command that could be started runs and has its own descriptors: closes this process's copies, so that
// the data can end.
void rd_link_go(struct rd_link *link);

// The run has failed: aborts both ends. Idempotent.
void rd_link_abort(struct rd_link *link, const char *reason);
void rd_link_expect_exit(struct rd_link *link);
// Every consumer is dead: the ends may be closed.
void rd_link_release(struct rd_link *link);
// See rd_channel_hand_over().
void rd_link_hand_over(struct rd_link *link, struct rd_held_write_ends *held);

#endif
