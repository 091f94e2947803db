// SPDX-License-Identifier: Apache-2.0
// The choice of an entry below the directories of --link-dest that a hard link can stand for.
#ifndef RD_TREE_LINK_CHOICE_H
#define RD_TREE_LINK_CHOICE_H

#include "compare/decision.h"
#include "compare/target_tree.h"

struct rd_link_choice; // opaque: follows the stream through the directories

// Returns NULL (RD_CODE_SINK_UNWRITABLE) if a directory cannot be used; see rd_link_dests_open().
struct rd_link_choice *rd_link_choice_create(const struct rd_tree_settings *settings, enum rd_target_mode place,
                                             struct rd_error *error);
void rd_link_choice_destroy(struct rd_link_choice *choice); // NULL-safe

// As rd_target_tree_enter() and rd_target_tree_leave(). `entered`: the target's directory that the entries go into;
// NULL: it is missing. Returns false (RD_CODE_SINK_UNWRITABLE) also if that is one of the directories, whose entries
// must not change.
bool rd_link_choice_enter(struct rd_link_choice *choice, struct rd_bytes name, const struct statx *entered,
                          struct rd_error *error);
void rd_link_choice_leave(struct rd_link_choice *choice);

// An entry that the target lacks, and has as `name` in its directory `fd` (-1: missing). Returns true if one of the
// directories has the same entry, and a hard link to it can be made: *number is the first such directory's.
bool rd_link_choice_find(const struct rd_link_choice *choice, struct rd_decider *decider,
                         const struct rd_record *record, const struct rd_attributes *attributes, int fd,
                         const char *name, uint32_t *number);
// The path of that entry for people. The caller frees it.
char *rd_link_choice_shown_path(const struct rd_link_choice *choice, uint32_t number, const char *name);
// Returns true if `name` in the target's directory `fd` is one of the directories, or one is below it: it must stay.
bool rd_link_choice_keeps(const struct rd_link_choice *choice, int fd, struct rd_bytes name);

#endif
