// SPDX-License-Identifier: Apache-2.0
#include "compare/decision_output.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "compare/plan.h"
#include "report/events.h"
#include "stream/tally.h"

struct rd_decision_output {
  struct rd_stream_writer *writer;
  struct rd_plan *plan; // one of them
  struct rd_tally *tally;
  bool is_share;
};

static bool put(struct rd_decision_output *output, const struct rd_record *record, struct rd_error *error);
static bool plan_decided(struct rd_plan *plan, const struct rd_target_tree *tree, const struct rd_decided *decided,
                         struct rd_error *error);

struct rd_decision_output *rd_decision_output_create(int fd, const struct rd_tree_settings *settings) {
  struct rd_decision_output *output = rd_memory_new(1, sizeof *output);
  output->is_share = settings->width > 0;
  output->tally = rd_tally_create(settings->key);
  if (settings->plan == RD_PLAN_NONE)
    output->writer = rd_stream_writer_create(fd, output->is_share ? RD_STREAM_SHARE : RD_STREAM_DECISIONS);
  else
    output->plan = rd_plan_create(fd, settings);
  return output;
}

void rd_decision_output_destroy(struct rd_decision_output *output) {
  if (output == NULL) return;
  rd_stream_writer_destroy(output->writer);
  rd_plan_destroy(output->plan);
  rd_tally_destroy(output->tally);
  free(output);
}

struct rd_stream_writer *rd_decision_output_writer(const struct rd_decision_output *output) {
  return output->writer;
}

void rd_decision_output_skip(struct rd_decision_output *output) {
  if (output->is_share && output->writer != NULL) rd_stream_skip(output->writer);
}

bool rd_decision_output_put(struct rd_decision_output *output, const struct rd_record *record, struct rd_error *error) {
  return output->plan != NULL || put(output, record, error);
}

bool rd_decision_output_decided(struct rd_decision_output *output, const struct rd_target_tree *tree,
                                const struct rd_decided *decided, struct rd_error *error) {
  if (output->plan != NULL) return plan_decided(output->plan, tree, decided, error);
  bool has_attributes = decided->record->entry.want != RD_WANT_NOTHING;
  if (has_attributes && !rd_attributes_put(decided->attributes, output->writer, error)) return false;
  if (decided->blocks != NULL) {
    struct rd_record blocks = {.type = RD_RECORD_BLOCKS, .blocks = *decided->blocks};
    if (!rd_stream_put(output->writer, &blocks, error)) return false;
  }
  return put(output, decided->record, error);
}

bool rd_decision_output_remove(struct rd_decision_output *output, const struct rd_target_tree *tree,
                               struct rd_bytes name, bool is_directory, struct rd_error *error) {
  struct rd_record record = {.type = RD_RECORD_REMOVE, .entry.name = name};
  if (output->plan == NULL) return put(output, &record, error);
  RD_AUTO_FREE char *path = rd_target_tree_path(tree, name);
  return rd_plan_remove(output->plan, path, is_directory, error);
}

void rd_decision_output_report(const struct rd_decision_output *output, uint64_t dropped, uint64_t skipped) {
  unsigned char digest[RD_DIGEST_TREE_BYTES];
  rd_tally_digest(output->tally, digest);
  rd_events_decisions(digest, dropped, skipped);
}

bool rd_decision_output_end(struct rd_decision_output *output, const struct rd_record *record, uint64_t same,
                            struct rd_error *error) {
  if (output->plan != NULL) return rd_plan_end(output->plan, same, record->end.failures, error);
  return rd_stream_put(output->writer, record, error) && rd_stream_flush(output->writer, error);
}

static bool put(struct rd_decision_output *output, const struct rd_record *record, struct rd_error *error) {
  rd_tally_add(output->tally, record);
  return rd_stream_put(output->writer, record, error);
}

static bool plan_decided(struct rd_plan *plan, const struct rd_target_tree *tree, const struct rd_decided *decided,
                         struct rd_error *error) {
  const struct rd_record *record = decided->record;
  if (decided->reasons == 0) return true;
  bool is_entered = record->type == RD_RECORD_ENTER;
  RD_AUTO_FREE char *path = rd_target_tree_path(tree, is_entered ? (struct rd_bytes){0} : record->entry.name);
  return rd_plan_entry(plan, record, path, decided->linked, decided->reasons, error);
}
