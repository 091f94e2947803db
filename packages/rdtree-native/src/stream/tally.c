// SPDX-License-Identifier: Apache-2.0
#include "stream/tally.h"

#include "base/bytes.h"
#include "base/memory.h"

#include <stdlib.h>

_Static_assert(RD_SIPHASH_BYTES == RD_DIGEST_TREE_BYTES, "the digest of an event");

struct rd_tally {
  struct rd_siphash digest;
  uint64_t dropped;
};

static uint32_t want_of(const struct rd_record *record);
static void add_bytes(struct rd_tally *tally, struct rd_bytes bytes);
static void add_number(struct rd_tally *tally, uint32_t number);

struct rd_tally *rd_tally_create(const unsigned char key[RD_SIPHASH_KEY_BYTES]) {
  struct rd_tally *tally = rd_memory_new(1, sizeof *tally);
  rd_siphash_begin(&tally->digest, key);
  return tally;
}

void rd_tally_destroy(struct rd_tally *tally) {
  free(tally);
}

void rd_tally_add(struct rd_tally *tally, const struct rd_record *record) {
  bool is_entry = rd_record_is_entry(record->type);
  if (record->type == RD_RECORD_FILE_END) tally->dropped += record->file_end.state == RD_FILE_DROPPED;
  if (!is_entry && record->type != RD_RECORD_LEAVE && record->type != RD_RECORD_REMOVE) return;
  add_number(tally, (uint32_t)record->type);
  if (record->type == RD_RECORD_LEAVE) return;
  add_bytes(tally, record->entry.name);
  if (!is_entry) return;
  add_number(tally, want_of(record));
  add_bytes(tally, record->entry.target);
}

void rd_tally_digest(const struct rd_tally *tally, unsigned char digest[RD_DIGEST_TREE_BYTES]) {
  rd_siphash_value(&tally->digest, digest);
}

uint64_t rd_tally_dropped(const struct rd_tally *tally) {
  return tally->dropped;
}

// RD_WANT_RESUME becomes RD_WANT_ALL where other targets have less of the file.
static uint32_t want_of(const struct rd_record *record) {
  enum rd_want want = record->entry.want;
  if (want == RD_WANT_LINK) return (uint32_t)want + record->entry.link_dest;
  return want == RD_WANT_RESUME ? RD_WANT_ALL : want;
}

static void add_bytes(struct rd_tally *tally, struct rd_bytes bytes) {
  add_number(tally, (uint32_t)bytes.count);
  if (bytes.count > 0) rd_siphash_update(&tally->digest, bytes.at, bytes.count);
}

static void add_number(struct rd_tally *tally, uint32_t number) {
  unsigned char encoded[4];
  rd_put_u32(encoded, number);
  rd_siphash_update(&tally->digest, encoded, sizeof encoded);
}
