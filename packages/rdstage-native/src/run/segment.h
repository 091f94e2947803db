// SPDX-License-Identifier: Apache-2.0
// The stages and links of this host that run at the same time.
#ifndef RD_STAGE_SEGMENT_H
#define RD_STAGE_SEGMENT_H

#include "base/usage.h"
#include "run/agent.h"
#include "run/held_write_ends.h"

#include <sys/types.h>

struct rd_segment;
// Takes `prepare` and begins to make everything ready. A failure is emitted; the segment then waits to be destroyed.
struct rd_segment *rd_segment_create(struct rd_agent *agent, struct rd_prepare_spec *prepare);
void rd_segment_destroy(struct rd_segment *segment); // NULL-safe

// False (RD_CODE_USAGE) when the request is not allowed in this state.
// `request`: listen, dial, show, rejoin or last.
bool rd_segment_connect(struct rd_segment *segment, const struct rd_request *request, struct rd_error *error);
bool rd_segment_go(struct rd_segment *segment, unsigned number, struct rd_error *error);
bool rd_segment_has_ended(const struct rd_segment *segment);
void rd_segment_acknowledge_stderr(struct rd_segment *segment, unsigned stage, uint64_t bytes);

// Handles the programs' messages: call it before any child is reaped.
void rd_segment_drain(struct rd_segment *segment);
void rd_segment_child_ended(struct rd_segment *segment, pid_t pid, int status, const struct rd_usage *usage);

// For the shutdown of a run (see run_shutdown.h).
void rd_segment_abort(struct rd_segment *segment, const char *reason);
// Its programs may be killed from now on.
void rd_segment_expect_exit(struct rd_segment *segment);
bool rd_segment_ends_are_over(const struct rd_segment *segment, enum rd_hop_side side);
void rd_segment_release(struct rd_segment *segment);
void rd_segment_close_stderr(struct rd_segment *segment);
void rd_segment_hand_over(struct rd_segment *segment, struct rd_held_write_ends *held); // see rd_channel_hand_over()
// Pids of its programs on that side, at most `most`.
size_t rd_segment_programs(const struct rd_segment *segment, enum rd_hop_side side, pid_t *pids, size_t most);
// The processes of its programs of a copy, which run.
size_t rd_segment_trees(const struct rd_segment *segment, pid_t *pids, size_t most);

#endif
