// SPDX-License-Identifier: Apache-2.0
#include "conn/credit.h"

#include "wire/wire.h"

#include <inttypes.h>

// Fewer unacknowledged bytes do not delay a sender: the ACK may wait, so that an answer to the data can go first.
#define LITTLE_BYTES 4096u
#define LATE_MS 40
// An ACK costs both ends a system call and often a wake-up: while more arrives, it comes only once for so many bytes or
// a part of the slots, whichever is less.
#define MUCH_BYTES (UINT64_C(1) << 20)
#define PARTS 4u
#define SMALL_PARTS 2u

static bool is_small(const struct rd_credit *credit, size_t bytes);

void rd_credit_init(struct rd_credit *credit, uint32_t slots, uint32_t small_slots) {
  *credit = (struct rd_credit){.slots = slots, .small_slots = small_slots};
  if (small_slots > RD_SMALL_SLOTS) credit->small_slots = RD_SMALL_SLOTS;
}

bool rd_credit_available(const struct rd_credit *credit) {
  uint64_t in_small = credit->small_sent - credit->small_returned;
  return credit->frames - credit->returned - in_small < credit->slots;
}

void rd_credit_spend(struct rd_credit *credit, size_t bytes) {
  bool has_small = credit->small_sent - credit->small_returned < credit->small_slots;
  if (has_small && is_small(credit, bytes)) credit->small[credit->small_sent++ % RD_SMALL_SLOTS] = credit->frames;
  credit->frames++;
}

bool rd_credit_take(struct rd_credit *credit, uint64_t frames_consumed, struct rd_error *error) {
  if (frames_consumed < credit->returned || frames_consumed > credit->frames) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED,
                 "the receiver acknowledged frame %" PRIu64 ", expected %" PRIu64 " to %" PRIu64, frames_consumed,
                 credit->returned, credit->frames);
    return false;
  }
  credit->returned = frames_consumed;
  while (credit->small_returned < credit->small_sent &&
         credit->small[credit->small_returned % RD_SMALL_SLOTS] < frames_consumed)
    credit->small_returned++;
  return true;
}

bool rd_credit_arrive(struct rd_credit *credit, size_t bytes, struct rd_error *error) {
  if (!is_small(credit, bytes)) credit->large_arrived++;
  credit->arrived++;
  bool fits = credit->large_arrived - credit->large_consumed <= credit->slots &&
              credit->arrived - credit->frames <= (uint64_t)credit->slots + credit->small_slots;
  if (fits) return true;
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the sender exceeded its credit");
  return false;
}

void rd_credit_consume(struct rd_credit *credit, size_t bytes, int64_t now_ms) {
  if (credit->frames == credit->returned) credit->owed_since_ms = now_ms;
  credit->frames++;
  credit->owed_bytes += bytes;
  if (is_small(credit, bytes))
    credit->owed_small++;
  else
    credit->large_consumed++;
}

bool rd_credit_due(const struct rd_credit *credit, bool idle, int64_t now_ms) {
  uint64_t owed = credit->frames - credit->returned;
  if (owed == 0) return false;
  uint64_t owed_small = credit->owed_small;
  bool is_much = credit->owed_bytes >= MUCH_BYTES || (owed - owed_small) * PARTS >= credit->slots ||
                 (owed_small > 0 && owed_small * SMALL_PARTS >= credit->small_slots);
  return is_much || (idle && rd_credit_timeout_ms(credit, now_ms) == 0);
}

int rd_credit_timeout_ms(const struct rd_credit *credit, int64_t now_ms) {
  if (credit->frames == credit->returned) return -1;
  int64_t left_ms = credit->owed_since_ms + LATE_MS - now_ms;
  return credit->owed_bytes < LITTLE_BYTES && left_ms > 0 ? (int)left_ms : 0;
}

void rd_credit_acknowledge(struct rd_credit *credit) {
  credit->returned = credit->frames;
  credit->owed_small = 0;
  credit->owed_bytes = 0;
}

static bool is_small(const struct rd_credit *credit, size_t bytes) {
  return credit->small_slots > 0 && bytes <= RD_SMALL_BYTES;
}
