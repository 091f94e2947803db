// SPDX-License-Identifier: Apache-2.0
// What joins two neighbours, as far as it is on this host: pipes, ends of hops, and who may see an end of file when.
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

struct rd_link *rd_link_create(struct rd_agent *agent, const struct rd_prepare_spec *prepare,
                               const struct rd_link_spec *spec, const struct rd_link_handler *handler);
void rd_link_destroy(struct rd_link *link); // NULL-safe
const struct rd_link_spec *rd_link_spec(const struct rd_link *link);
// The commands at its ends, before rd_link_open(). Borrowed. The link becomes the producer's output.
void rd_link_set_producer(struct rd_link *link, struct rd_stage *producer);
void rd_link_set_consumer(struct rd_link *link, struct rd_stage *consumer);

// Makes the pipes and begins to make the ends ready. False when a pipe cannot be made.
bool rd_link_open(struct rd_link *link, struct rd_error *error);
bool rd_link_is_ready(const struct rd_link *link);
// The end of that kind, or NULL.
struct rd_hop *rd_link_hop(const struct rd_link *link, enum rd_hop_side side);

// What a command reads from and writes to; borrowed.
int rd_link_input_fd(const struct rd_link *link);
int rd_link_output_fd(const struct rd_link *link);
// All commands run, as far as they could be started: what they hold is theirs alone now, and data may come to its end.
void rd_link_go(struct rd_link *link);

// The run fails: tells both ends. Idempotent.
void rd_link_abort(struct rd_link *link, const char *reason);
void rd_link_expect_exit(struct rd_link *link);
// Every consumer is dead: ends may be closed.
void rd_link_release(struct rd_link *link);
// See rd_channel_hand_over().
void rd_link_hand_over(struct rd_link *link, struct rd_held_write_ends *held);

#endif
