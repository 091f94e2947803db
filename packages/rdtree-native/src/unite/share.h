// SPDX-License-Identifier: Apache-2.0
// The decisions of one of several targets, read up to the next record of the source that it wants.
#ifndef RD_TREE_SHARE_H
#define RD_TREE_SHARE_H

#include "stream/stream_reader.h"

// Encoded records.
struct rd_encoded {
  unsigned char *at;
  size_t count, room;
};

struct rd_share {
  unsigned rank;
  struct rd_stream_reader *reader;
  uint64_t at;                  // number of the source's next record, not counting XATTR
  bool is_loaded;               // that record is `record`, with those that belong to it
  struct rd_record record;      // `want`: the part that the target wants
  struct rd_encoded plain;      // the same record, encoded as the source sent it
  struct rd_encoded attributes; // the XATTR records before it
  struct rd_blocks blocks;      // the BLOCKS before it; no digests if there are none
  unsigned char *digests;       // owns those of `blocks`
};

// Takes a PLACE or a REMOVE, which are not records of the source: it goes before the next record. Returns false on
// failure.
typedef bool rd_share_found(void *context, unsigned rank, const struct rd_record *record, struct rd_error *error);

// Flushes `output` before each wait: see rd_stream_reader_create().
void rd_share_begin(struct rd_share *share, unsigned rank, int fd, struct rd_stream_writer *output);
void rd_share_end(struct rd_share *share);
// Reads until a record is loaded, or `at` has moved. Returns false as rd_stream_next() does, or if `found` failed.
bool rd_share_load(struct rd_share *share, rd_share_found *found, void *context, struct rd_error *error);
// Call when the loaded record is done.
void rd_share_step(struct rd_share *share);

// Returns true if both have the same bytes.
bool rd_encoded_is_same(const struct rd_encoded *one, const struct rd_encoded *other);

#endif
