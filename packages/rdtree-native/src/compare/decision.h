// SPDX-License-Identifier: Apache-2.0
// The decision on one entry: what of it the target lacks, and for which reasons.
#ifndef RD_TREE_DECISION_H
#define RD_TREE_DECISION_H

#include "compare/difference.h"
#include "entry/attributes.h"

struct rd_decider; // opaque

// `settings` and `owners` stay the caller's, and must outlive it. Never NULL.
struct rd_decider *rd_decider_create(const struct rd_tree_settings *settings, const struct rd_owner_map *owners);
void rd_decider_destroy(struct rd_decider *decider); // NULL-safe

// The reasons (enum rd_reason) for which an entry of that `name` in the target's directory `fd` (-1: missing) is not
// the same as `record`, a FILE, SYMLINK or SPECIAL, with these attributes; 0: it is. An entry that cannot be read
// there counts as different, and a file there that the settings keep because it is newer as the same.
unsigned rd_decide_entry(struct rd_decider *decider, const struct rd_record *record,
                         const struct rd_attributes *attributes, int fd, const char *name);
// True: the entry `name` of the directory `fd` (-1: missing) is the same as `record`, in all that is copied. `status`
// is that entry's.
bool rd_decide_same(struct rd_decider *decider, const struct rd_record *record, const struct rd_attributes *attributes,
                    int fd, const char *name, struct statx *status);
// True if -u skips the entry, because the target has a newer file, which may have other contents.
bool rd_decide_newer(const struct rd_decider *decider, const struct rd_record *record, int fd, const char *name);
// Of an ENTER: `status` is that of the open directory `fd`.
unsigned rd_decide_directory(struct rd_decider *decider, const struct rd_record *record,
                             const struct rd_attributes *attributes, int fd, const struct statx *status);
// Of a LINK, whose other path is below `top_fd`. 0: both names are there, of one file, with the same metadata.
unsigned rd_decide_link(struct rd_decider *decider, const struct rd_record *record, int top_fd, int fd,
                        const char *name);

// The part of the entry that these reasons ask for; 0 reasons: RD_WANT_NOTHING.
enum rd_want rd_want_of(const struct rd_decider *decider, const struct rd_record *record, unsigned reasons);

#endif
