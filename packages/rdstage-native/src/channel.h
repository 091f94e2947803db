// SPDX-License-Identifier: Apache-2.0
// A pipe between two processes of a segment, seen by the one that answers for both: it keeps a copy of the writing end,
// so that the reader sees no end of file before it may, and knows by it when nobody reads any more.
#ifndef RD_STAGE_CHANNEL_H
#define RD_STAGE_CHANNEL_H

#include "agent.h"
#include "held_write_ends.h"

typedef void channel_function(void *context);

struct channel;
// `guarded`: the guardian holds the writing end as well. NULL (RD_CODE_INTERNAL) on failure.
struct channel *channel_create(struct agent *agent, bool guarded, struct rd_error *error);
// Closes what is still open here. Where somebody still reads, the guardian goes on holding the writing end.
void channel_destroy(struct channel *channel); // NULL-safe
// Without a guardian: hands a guarded writing end that is still held over to `holds`.
void channel_hand_over(struct channel *channel, struct held_write_ends *held);

int channel_read_end(const struct channel *channel);  // borrowed; -1 after channel_reader_started()
int channel_write_end(const struct channel *channel); // borrowed; -1 after channel_release()
// The reader has its own copy of the reading end now: ours is closed. `reader_gone` is called once when no reader is
// left.
void channel_reader_started(struct channel *channel, channel_function *reader_gone, void *context);
// Nobody will be given the reading end any more.
void channel_close_read_end(struct channel *channel);
bool channel_is_read(const struct channel *channel);
// Gives up the copies of the writing end, here and at the guardian: end of file may be seen.
void channel_release(struct channel *channel);

#endif
