// SPDX-License-Identifier: Apache-2.0
// The plan of a copy (-n): a line for each path that would be changed, and one of totals.
#ifndef RD_TREE_PLAN_H
#define RD_TREE_PLAN_H

#include "setup/settings.h"
#include "stream/record.h"

struct rd_plan; // opaque

// Writes to `fd`, which stays the caller's, as text or as JSON objects; `settings` must outlive it. Never NULL.
struct rd_plan *rd_plan_create(int fd, const struct rd_tree_settings *settings);
void rd_plan_destroy(struct rd_plan *plan); // NULL-safe

// An entry that differs, with its path below the target and the reasons (enum rd_reason); `linked`: with RD_WANT_LINK
// the path of its other name. False (RD_CODE_SINK_UNWRITABLE; RD_CODE_CLOSED: the reader is gone), as the other
// functions too.
bool rd_plan_entry(struct rd_plan *plan, const struct rd_record *record, const char *path, const char *linked,
                   unsigned reasons, struct rd_error *error);
bool rd_plan_remove(struct rd_plan *plan, const char *path, bool is_directory, struct rd_error *error);
// The line of totals. `failures`: entries of the source that could not be read.
bool rd_plan_end(struct rd_plan *plan, uint64_t same, uint64_t failures, struct rd_error *error);

#endif
