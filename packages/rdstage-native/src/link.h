// SPDX-License-Identifier: Apache-2.0
// What joins two neighbours, as far as it is on this host: pipes, ends of hops, and who may see an end of file when.
#ifndef RD_STAGE_LINK_H
#define RD_STAGE_LINK_H

#include "agent.h"
#include "held_write_ends.h"
#include "hop.h"

struct link;
struct stage;

struct link_handler {
  void (*changed)(void *context); // an end is ready, or over
  void *context;
};

struct link *link_create(struct agent *agent, const struct prepare_spec *prepare, const struct link_spec *spec,
                         const struct link_handler *handler);
void link_destroy(struct link *link); // NULL-safe
const struct link_spec *link_spec(const struct link *link);
// The commands at its ends, before link_open(). Borrowed. The link becomes the producer's output.
void link_set_producer(struct link *link, struct stage *producer);
void link_set_consumer(struct link *link, struct stage *consumer);

// Makes the pipes and begins to make the ends ready. False when a pipe cannot be made.
bool link_open(struct link *link, struct rd_error *error);
bool link_is_ready(const struct link *link);
// The end of that kind, or NULL.
struct hop *link_hop(const struct link *link, enum hop_side end);

// What a command reads from and writes to; borrowed.
int link_input_fd(const struct link *link);
int link_output_fd(const struct link *link);
// All commands run, as far as they could be started: what they hold is theirs alone now, and data may come to its end.
void link_go(struct link *link);

// The run fails: tells both ends. Idempotent.
void link_abort(struct link *link, const char *reason);
void link_expect_exit(struct link *link);
// Every consumer is dead: ends may be closed.
void link_release(struct link *link);
// See channel_hand_over().
void link_hand_over(struct link *link, struct held_write_ends *held);

#endif
