// SPDX-License-Identifier: Apache-2.0
#include "unite/unite.h"

#include "base/memory.h"
#include "stream/stream_writer.h"
#include "unite/share.h"

#include <stdlib.h>
#include <string.h>

struct unite {
  struct rd_stream_writer *writer;
  struct rd_share *shares;
  unsigned width;
  unsigned char *wants; // one per target
};

static bool run(struct unite *unite, struct rd_error *error);
static bool load(struct unite *unite, const struct rd_share **first, struct rd_error *error);
static uint64_t least_of(const struct unite *unite);
static bool put_alone(void *context, unsigned rank, const struct rd_record *record, struct rd_error *error);
static bool check_same(const struct unite *unite, const struct rd_share *first, struct rd_error *error);
static bool is_for_all(enum rd_record_type type);
static bool put_step(struct unite *unite, const struct rd_share *first, struct rd_error *error);
static bool put_directory(struct unite *unite, const struct rd_share *first, struct rd_error *error);
static bool put_group(struct unite *unite, enum rd_want want, struct rd_error *error);
static bool put_wants(struct unite *unite, struct rd_error *error);
static bool put_attributes(struct unite *unite, const struct rd_share *first, struct rd_error *error);
static struct rd_blocks common_blocks(const struct unite *unite, const struct rd_share *first);
static uint64_t same_blocks(const struct rd_blocks *one, const struct rd_blocks *other);
static bool finish(struct unite *unite, struct rd_error *error);
static bool disagree(const struct rd_share *share, struct rd_error *error);

bool rd_tree_unite(const struct rd_tree_settings *settings, int first_fd, int out_fd, struct rd_error *error) {
  struct unite unite = {.writer = rd_stream_writer_create(out_fd, RD_STREAM_DECISIONS), .width = settings->width};
  unite.shares = rd_memory_new(unite.width, sizeof *unite.shares);
  unite.wants = rd_memory_new(unite.width, 1);
  for (unsigned i = 0; i < unite.width; i++) rd_share_begin(&unite.shares[i], i, first_fd + (int)i, unite.writer);
  bool is_done = run(&unite, error) && finish(&unite, error);
  for (unsigned i = 0; i < unite.width; i++) rd_share_end(&unite.shares[i]);
  rd_stream_writer_destroy(unite.writer);
  free(unite.shares);
  free(unite.wants);
  return is_done;
}

static bool run(struct unite *unite, struct rd_error *error) {
  enum rd_record_type type;
  do {
    const struct rd_share *first;
    if (!load(unite, &first, error) || !check_same(unite, first, error) || !put_step(unite, first, error)) return false;
    type = first->record.type;
    for (unsigned i = 0; i < unite->width; i++)
      if (unite->shares[i].is_loaded) rd_share_step(&unite->shares[i]);
  } while (type != RD_RECORD_END);
  return rd_stream_flush(unite->writer, error);
}

// Reads until all shares at the lowest position have their record; *first is the first of them. A share that is ahead
// is not read: its target waits, while the other targets receive through the chain of hosts the entries that it has
// compared already.
static bool load(struct unite *unite, const struct rd_share **first, struct rd_error *error) {
  bool has_moved;
  do {
    uint64_t least = least_of(unite);
    has_moved = false;
    *first = NULL;
    for (unsigned i = 0; i < unite->width; i++) {
      struct rd_share *share = &unite->shares[i];
      if (share->at != least) continue;
      if (!share->is_loaded && !rd_share_load(share, put_alone, unite, error)) return false;
      has_moved |= !share->is_loaded;
      if (*first == NULL && share->is_loaded) *first = share;
    }
  } while (*first == NULL || has_moved);
  return true;
}

static uint64_t least_of(const struct unite *unite) {
  uint64_t least = unite->shares[0].at;
  for (unsigned i = 1; i < unite->width; i++)
    if (unite->shares[i].at < least) least = unite->shares[i].at;
  return least;
}

// Writes a PLACE or REMOVE of one target.
static bool put_alone(void *context, unsigned rank, const struct rd_record *record, struct rd_error *error) {
  struct unite *unite = context;
  memset(unite->wants, RD_WANT_NOTHING, unite->width);
  unite->wants[rank] = RD_WANT_ALL;
  return put_wants(unite, error) && rd_stream_put(unite->writer, record, error);
}

// A target may lie about its own entries, but not about those of the source, which the other targets would get.
static bool check_same(const struct unite *unite, const struct rd_share *first, struct rd_error *error) {
  for (unsigned i = 0; i < unite->width; i++) {
    const struct rd_share *share = &unite->shares[i];
    bool is_missing = !share->is_loaded && is_for_all(first->record.type);
    bool is_other = share->is_loaded && !rd_encoded_is_same(&share->plain, &first->plain);
    if (is_missing || is_other) return disagree(share, error);
  }
  return true;
}

static bool is_for_all(enum rd_record_type type) {
  return type == RD_RECORD_ENTER || !rd_record_is_entry(type);
}

static bool put_step(struct unite *unite, const struct rd_share *first, struct rd_error *error) {
  if (first->record.type == RD_RECORD_ENTER) return put_directory(unite, first, error);
  if (!rd_record_is_entry(first->record.type)) return rd_stream_put(unite->writer, &first->record, error);
  return put_group(unite, RD_WANT_METADATA, error) && put_group(unite, RD_WANT_ALL, error);
}

// Every target enters the directory.
static bool put_directory(struct unite *unite, const struct rd_share *first, struct rd_error *error) {
  const struct rd_share *most = first; // the share that wants the most of it
  bool is_same = true;
  for (unsigned i = 0; i < unite->width; i++) {
    enum rd_want want = unite->shares[i].record.entry.want;
    unite->wants[i] = (unsigned char)want;
    if (want < most->record.entry.want) most = &unite->shares[i];
    is_same &= want == first->record.entry.want;
  }
  return (is_same || put_wants(unite, error)) && put_attributes(unite, most, error) &&
         rd_stream_put(unite->writer, &most->record, error);
}

// Writes an entry for the targets that want only its metadata, or for those that want its contents: the former get the
// metadata as scanned, the latter as they were when the contents were read.
static bool put_group(struct unite *unite, enum rd_want want, struct rd_error *error) {
  const struct rd_share *first = NULL;
  unsigned count = 0;
  for (unsigned i = 0; i < unite->width; i++) {
    const struct rd_share *share = &unite->shares[i];
    bool is_in = share->is_loaded && (share->record.entry.want == RD_WANT_METADATA) == (want == RD_WANT_METADATA);
    unite->wants[i] = is_in ? RD_WANT_ALL : RD_WANT_NOTHING;
    count += is_in;
    if (is_in && first == NULL) first = share;
  }
  if (first == NULL) return true;
  if (count < unite->width && !put_wants(unite, error)) return false;
  struct rd_record record = first->record, blocks = {.type = RD_RECORD_BLOCKS, .blocks = common_blocks(unite, first)};
  bool has_blocks = blocks.blocks.digests.count > 0;
  record.entry.want = has_blocks ? RD_WANT_RESUME : want;
  return put_attributes(unite, first, error) && (!has_blocks || rd_stream_put(unite->writer, &blocks, error)) &&
         rd_stream_put(unite->writer, &record, error);
}

static bool put_wants(struct unite *unite, struct rd_error *error) {
  struct rd_record record = {.type = RD_RECORD_WANTS, .wants = {unite->wants, unite->width}};
  return rd_stream_put(unite->writer, &record, error);
}

// Writes the attributes of an entry for the targets in `wants`.
static bool put_attributes(struct unite *unite, const struct rd_share *first, struct rd_error *error) {
  for (unsigned i = 0; i < unite->width; i++) {
    const struct rd_share *share = &unite->shares[i];
    bool is_same = rd_encoded_is_same(&share->attributes, &first->attributes);
    if (unite->wants[i] != RD_WANT_NOTHING && !is_same) return disagree(share, error);
  }
  return rd_stream_put_encoded(unite->writer, first->attributes.at, first->attributes.count, error);
}

// Returns the blocks of a file that all targets that want its content have: it resumes at the first block that one of
// them lacks.
static struct rd_blocks common_blocks(const struct unite *unite, const struct rd_share *first) {
  struct rd_blocks common = first->blocks;
  for (unsigned i = 0; i < unite->width; i++) {
    if (unite->wants[i] == RD_WANT_NOTHING) continue;
    const struct rd_blocks *blocks = &unite->shares[i].blocks;
    bool has_same_size = blocks->block_bytes == common.block_bytes;
    uint64_t same = has_same_size ? same_blocks(&common, blocks) : 0;
    common.bytes = same * common.block_bytes;
    common.digests.count = same * RD_DIGEST_TREE_BYTES;
  }
  return common;
}

// Returns the number of blocks at the beginning that have the same digests in both.
static uint64_t same_blocks(const struct rd_blocks *one, const struct rd_blocks *other) {
  size_t least = one->digests.count < other->digests.count ? one->digests.count : other->digests.count, at = 0;
  while (at < least && memcmp(one->digests.at + at, other->digests.at + at, RD_DIGEST_TREE_BYTES) == 0)
    at += RD_DIGEST_TREE_BYTES;
  return at / RD_DIGEST_TREE_BYTES;
}

// Each share ends only when all programs before it have succeeded.
static bool finish(struct unite *unite, struct rd_error *error) {
  for (unsigned i = 0; i < unite->width; i++)
    if (!rd_stream_finish(unite->shares[i].reader, error)) return false;
  return true;
}

static bool disagree(const struct rd_share *share, struct rd_error *error) {
  rd_error_set(error, RD_CODE_DATA_DAMAGED,
               "the stream of the tree is damaged: target %u has other entries of the source than those before it",
               share->rank + 1);
  return false;
}
