// SPDX-License-Identifier: Apache-2.0
// The stages and links of this host that run at the same time.
#ifndef RD_STAGE_SEGMENT_H
#define RD_STAGE_SEGMENT_H

#include "agent.h"
#include "held_write_ends.h"
#include "usage.h"

#include <sys/types.h>

struct segment;
// Takes `prepare` and begins to make everything ready. What fails is told; the segment then waits to be destroyed.
struct segment *segment_create(struct agent *agent, struct prepare_spec *prepare);
void segment_destroy(struct segment *segment); // NULL-safe

// False (RD_CODE_USAGE) when the request makes no sense now.
// `request`: listen or dial.
bool segment_connect(struct segment *segment, const struct request *request, struct rd_error *error);
bool segment_go(struct segment *segment, unsigned number, struct rd_error *error);
bool segment_has_ended(const struct segment *segment);
void segment_acknowledge_stderr(struct segment *segment, unsigned stage, uint64_t bytes);

// Takes what the programs have said: before any child's end is looked at.
void segment_drain(struct segment *segment);
void segment_child_ended(struct segment *segment, pid_t pid, int status, const struct rd_usage *usage);

// For the ending of a run (see ending.h).
void segment_abort(struct segment *segment, const char *reason);
// Its programs may be killed from now on.
void segment_expect_exit(struct segment *segment);
bool segment_ends_are_over(const struct segment *segment, enum hop_side end);
void segment_release(struct segment *segment);
void segment_close_stderr(struct segment *segment);
void segment_hand_over(struct segment *segment, struct held_write_ends *held); // see channel_hand_over()
// Pids of its programs of that end, at most `most`.
size_t segment_programs(const struct segment *segment, enum hop_side end, pid_t *pids, size_t most);

#endif
