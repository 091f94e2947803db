// SPDX-License-Identifier: Apache-2.0
// A pipe between two processes of a segment, seen by the one that answers for both: it keeps a copy of the writing end,
// so that the reader sees no end of file before it may, and knows by it when nobody reads any more.
#ifndef RD_STAGE_CHANNEL_H
#define RD_STAGE_CHANNEL_H

#include "run/agent.h"
#include "run/held_write_ends.h"

typedef void rd_channel_function(void *context);

struct rd_channel;
// `guarded`: the guardian holds the writing end as well. NULL (RD_CODE_INTERNAL) on failure.
struct rd_channel *rd_channel_create(struct rd_agent *agent, bool guarded, struct rd_error *error);
// Closes what is still open here. Where somebody still reads, the guardian goes on holding the writing end.
void rd_channel_destroy(struct rd_channel *channel); // NULL-safe
// Without a guardian: hands a guarded writing end that is still held over to `holds`.
void rd_channel_hand_over(struct rd_channel *channel, struct rd_held_write_ends *held);

int rd_channel_read_end(const struct rd_channel *channel);  // borrowed; -1 after rd_channel_reader_started()
int rd_channel_write_end(const struct rd_channel *channel); // borrowed; -1 after rd_channel_release()
// The reader has its own copy of the reading end now: ours is closed. `reader_gone` is called once when no reader is
// left.
void rd_channel_reader_started(struct rd_channel *channel, rd_channel_function *reader_gone, void *context);
// Nobody will be given the reading end any more.
void rd_channel_close_read_end(struct rd_channel *channel);
bool rd_channel_is_read(const struct rd_channel *channel);
// Gives up the copies of the writing end, here and at the guardian: end of file may be seen.
void rd_channel_release(struct rd_channel *channel);

#endif
