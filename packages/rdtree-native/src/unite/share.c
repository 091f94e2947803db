// SPDX-License-Identifier: Apache-2.0
#include "unite/share.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES (64u << 10) // a buffer larger than this is freed after its record

static bool skip(struct rd_share *share, uint64_t count, struct rd_error *error);
static void load(struct rd_share *share, const struct rd_record *record);
static void keep_blocks(struct rd_share *share, const struct rd_blocks *blocks);
static void add(struct rd_encoded *encoded, const struct rd_record *record);
static void clear(struct rd_encoded *encoded);

void rd_share_begin(struct rd_share *share, unsigned rank, int fd, struct rd_stream_writer *output) {
  *share = (struct rd_share){.rank = rank, .reader = rd_stream_reader_create(fd, RD_STREAM_SHARE, output)};
}

void rd_share_end(struct rd_share *share) {
  rd_stream_reader_destroy(share->reader);
  free(share->plain.at);
  free(share->attributes.at);
  free(share->digests);
}

bool rd_share_load(struct rd_share *share, rd_share_found *found, void *context, struct rd_error *error) {
  struct rd_record record;
  for (;;) {
    if (!rd_stream_next(share->reader, &record, error)) return false;
    switch (record.type) {
    case RD_RECORD_SKIP:
      return skip(share, record.skip, error);
    case RD_RECORD_PLACE:
    case RD_RECORD_REMOVE:
      if (!found(context, share->rank, &record, error)) return false;
      break;
    case RD_RECORD_XATTR:
      add(&share->attributes, &record);
      break;
    case RD_RECORD_BLOCKS:
      keep_blocks(share, &record.blocks);
      break;
    default:
      load(share, &record);
      return true;
    }
  }
}

void rd_share_step(struct rd_share *share) {
  share->at++;
  share->is_loaded = false;
  clear(&share->plain);
  clear(&share->attributes);
  free(share->digests);
  share->digests = NULL;
  share->blocks = (struct rd_blocks){0};
}

bool rd_encoded_is_same(const struct rd_encoded *one, const struct rd_encoded *other) {
  return one->count == other->count && (one->count == 0 || memcmp(one->at, other->at, one->count) == 0);
}

static bool skip(struct rd_share *share, uint64_t count, struct rd_error *error) {
  if (count <= UINT64_MAX - 1 - share->at) {
    share->at += count;
    return true;
  }
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the stream of the tree is damaged: target %u skips too much",
               share->rank + 1);
  return false;
}

// The record's bytes stay in the reader, which is not used again before the record is done.
static void load(struct rd_share *share, const struct rd_record *record) {
  struct rd_record plain = *record;
  if (rd_record_is_entry(plain.type)) plain.entry.want = RD_WANT_ALL;
  share->record = *record;
  add(&share->plain, &plain);
  share->is_loaded = true;
}

static void keep_blocks(struct rd_share *share, const struct rd_blocks *blocks) {
  share->digests = (unsigned char *)rd_memory_copy((const char *)blocks->digests.at, blocks->digests.count);
  share->blocks = *blocks;
  share->blocks.digests.at = share->digests;
}

static void add(struct rd_encoded *encoded, const struct rd_record *record) {
  size_t bound = encoded->count + rd_record_bound(record);
  if (encoded->room < bound) encoded->at = rd_memory_resize(encoded->at, encoded->room = 2 * bound, 1);
  encoded->count += rd_record_encode(record, encoded->at + encoded->count);
}

static void clear(struct rd_encoded *encoded) {
  encoded->count = 0;
  if (encoded->room <= KEPT_BYTES) return;
  free(encoded->at);
  *encoded = (struct rd_encoded){0};
}
