// SPDX-License-Identifier: Apache-2.0
// The stages and links of this host that run at the same time.
#ifndef RD_STAGE_SEGMENT_H
#define RD_STAGE_SEGMENT_H

#include "base/usage.h"
#include "run/agent.h"
#include "run/held_write_ends.h"

#include <sys/types.h>

struct rd_segment;
// Takes ownership of `prepare` and begins to open everything. A failure is emitted; the segment then waits to be
// destroyed.
struct rd_segment *rd_segment_create(struct rd_agent *agent, struct rd_prepare_spec *prepare);
void rd_segment_destroy(struct rd_segment *segment); // NULL-safe

// Passes on a request: listen, dial, show, rejoin or last. Returns false (RD_CODE_USAGE) if the request is not allowed
// in this state.
bool rd_segment_connect(struct rd_segment *segment, const struct rd_request *request, struct rd_error *error);
// Starts the stages of segment `number`. Returns false (RD_CODE_USAGE) if they may not be started in this state.
bool rd_segment_go(struct rd_segment *segment, unsigned number, struct rd_error *error);
bool rd_segment_has_ended(const struct rd_segment *segment);
// rdpipe has taken `bytes` bytes of that stage's standard error in total.
void rd_segment_acknowledge_stderr(struct rd_segment *segment, unsigned stage, uint64_t bytes);

// Handles the programs' messages. Call it before any child is reaped.
void rd_segment_drain(struct rd_segment *segment);
// Handles the end of a child process, if it belongs to the segment.
void rd_segment_child_ended(struct rd_segment *segment, pid_t pid, int status, const struct rd_usage *usage);

// The remaining functions are for the shutdown of a run (see run_shutdown.h).
void rd_segment_abort(struct rd_segment *segment, const char *reason);
// The programs may be killed from now on.
void rd_segment_expect_exit(struct rd_segment *segment);
// Returns true if no hop program on that side is running.
bool rd_segment_ends_are_over(const struct rd_segment *segment, enum rd_hop_side side);
void rd_segment_release(struct rd_segment *segment);
// Passes on the output that has arrived on standard error, then stops reading it.
void rd_segment_close_stderr(struct rd_segment *segment);
void rd_segment_hand_over(struct rd_segment *segment, struct rd_held_write_ends *held); // see rd_channel_hand_over()
// Stores the pids of the hop programs on that side, at most `most`. Returns their number.
size_t rd_segment_programs(const struct rd_segment *segment, enum rd_hop_side side, pid_t *pids, size_t most);
// Stores the pids of the running rdtree processes, at most `most`. Returns their number.
size_t rd_segment_trees(const struct rd_segment *segment, pid_t *pids, size_t most);

#endif
