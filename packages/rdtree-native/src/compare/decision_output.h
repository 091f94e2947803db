// SPDX-License-Identifier: Apache-2.0
// The output of compare: records for the next program, or a plan for people in their place.
#ifndef RD_TREE_DECISION_OUTPUT_H
#define RD_TREE_DECISION_OUTPUT_H

#include "compare/target_tree.h"
#include "entry/attributes.h"
#include "setup/settings.h"

struct rd_decision_output; // opaque

// An entry that is not the same, or a directory.
struct rd_decided {
  const struct rd_record *record; // with what is wanted of it
  const struct rd_attributes *attributes;
  const struct rd_blocks *blocks; // of RD_WANT_RESUME; else NULL
  const char *linked;             // RD_WANT_LINK in a plan: the path of the other name, for people; else NULL
  unsigned reasons;               // enum rd_reason
};

// `fd` stays the caller's. Never NULL.
struct rd_decision_output *rd_decision_output_create(int fd, const struct rd_tree_settings *settings);
void rd_decision_output_destroy(struct rd_decision_output *output);                          // NULL-safe
struct rd_stream_writer *rd_decision_output_writer(const struct rd_decision_output *output); // NULL: it is a plan

// An entry that is the same.
void rd_decision_output_skip(struct rd_decision_output *output);

// False: it cannot be written, as rd_stream_put() has it; so too the other functions.
bool rd_decision_output_put(struct rd_decision_output *output, const struct rd_record *record, struct rd_error *error);
// `tree`: in the directory that the entry is in, or is.
bool rd_decision_output_decided(struct rd_decision_output *output, const struct rd_target_tree *tree,
                                const struct rd_decided *decided, struct rd_error *error);
bool rd_decision_output_remove(struct rd_decision_output *output, const struct rd_target_tree *tree,
                               struct rd_bytes name, bool is_directory, struct rd_error *error);
// A `decisions` event of all that was sent, of a plan nothing; `dropped`, `skipped`: as for rd_events_decisions().
void rd_decision_output_report(const struct rd_decision_output *output, uint64_t dropped, uint64_t skipped);
// `record`: the END; `same`: entries that were.
bool rd_decision_output_end(struct rd_decision_output *output, const struct rd_record *record, uint64_t same,
                            struct rd_error *error);

#endif
