// SPDX-License-Identifier: Apache-2.0
// A tally of the decisions of a target.
// That of write differs from that of compare if some are missing.
#ifndef RD_TREE_TALLY_H
#define RD_TREE_TALLY_H

#include "base/siphash.h"
#include "stream/record.h"

struct rd_tally; // opaque

// The key is for the digest: who does not know it cannot choose other records of the same digest. Never NULL.
struct rd_tally *rd_tally_create(const unsigned char key[RD_SIPHASH_KEY_BYTES]);
void rd_tally_destroy(struct rd_tally *tally); // NULL-safe

// Every record of one target, in order: as compare sends it, or as rd_own_view_take() leaves it. Those that the
// programs between may change, add or leave out, such as BLOCKS, are not counted.
void rd_tally_add(struct rd_tally *tally, const struct rd_record *record);

// Of types, names, targets of links, and whether metadata alone is wanted, all in order.
void rd_tally_digest(const struct rd_tally *tally, unsigned char digest[RD_DIGEST_TREE_BYTES]);
// Files whose content the source could not give.
uint64_t rd_tally_dropped(const struct rd_tally *tally);

#endif
