// SPDX-License-Identifier: Apache-2.0
// The decisions of one of several targets, read up to the next record of the source that it wants.
#ifndef RD_TREE_SHARE_H
#define RD_TREE_SHARE_H

#include "stream/stream_reader.h"

// Records in their encoded form.
struct rd_encoded {
  unsigned char *at;
  size_t count, room;
};

struct rd_share {
  unsigned rank;
  struct rd_stream_reader *reader;
  uint64_t at;                  // number of the source's record that comes next, XATTR apart
  bool is_loaded;               // it is `record`, with what belongs to it
  struct rd_record record;      // with what the target wants of it
  struct rd_encoded plain;      // the same, encoded as the source sent it
  struct rd_encoded attributes; // XATTR before it
  struct rd_blocks blocks;      // BLOCKS before it; without a digest: none
  unsigned char *digests;       // those of `blocks`
};

// Takes a PLACE or a REMOVE, which the source knows nothing of: it goes before the record that comes next.
typedef bool rd_share_found(void *context, unsigned rank, const struct rd_record *record, struct rd_error *error);

// `output` is flushed before each wait, as rd_stream_reader_create() has it.
void rd_share_begin(struct rd_share *share, unsigned rank, int fd, struct rd_stream_writer *output);
void rd_share_end(struct rd_share *share);
// Reads until a record is loaded, or `at` has moved. False as rd_stream_next(), or if `found` failed.
bool rd_share_load(struct rd_share *share, rd_share_found *found, void *context, struct rd_error *error);
// The loaded record is done.
void rd_share_step(struct rd_share *share);

bool rd_encoded_is_same(const struct rd_encoded *one, const struct rd_encoded *other);

#endif
