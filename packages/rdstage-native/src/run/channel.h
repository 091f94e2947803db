// SPDX-License-Identifier: Apache-2.0
// A pipe between two processes of a segment. The supervisor keeps a copy of the write end.
// The reader sees no end of file before the supervisor allows it, and the supervisor notices when the last reader is
// gone.
#ifndef RD_STAGE_CHANNEL_H
#define RD_STAGE_CHANNEL_H

#include "run/agent.h"
#include "run/held_write_ends.h"

typedef void rd_channel_function(void *context);

struct rd_channel;
// `guarded`: the guardian also holds the write end. Returns NULL (RD_CODE_INTERNAL) on failure.
struct rd_channel *rd_channel_create(struct rd_agent *agent, bool guarded, struct rd_error *error);
// Closes the ends that are still open in this process. The guardian keeps the write end while there is a reader.
void rd_channel_destroy(struct rd_channel *channel); // NULL-safe
// Call when the guardian is gone: moves a guarded write end that is still open to `held`.
void rd_channel_hand_over(struct rd_channel *channel, struct rd_held_write_ends *held);

int rd_channel_read_end(const struct rd_channel *channel);  // borrowed; -1 after rd_channel_reader_started()
int rd_channel_write_end(const struct rd_channel *channel); // borrowed; -1 after rd_channel_release()
// The reader now has its own copy of the read end: closes the supervisor's copy. `reader_gone` is called once, when no
// reader is left.
void rd_channel_reader_started(struct rd_channel *channel, rd_channel_function *reader_gone, void *context);
// Closes the supervisor's read end: no further process gets it.
void rd_channel_close_read_end(struct rd_channel *channel);
// Returns true while the pipe has a reader.
bool rd_channel_is_read(const struct rd_channel *channel);
// Closes the copies of the write end in this process and in the guardian: the reader may see the end of file.
void rd_channel_release(struct rd_channel *channel);

#endif
