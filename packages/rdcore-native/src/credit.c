// SPDX-License-Identifier: Apache-2.0
#include "credit.h"

#include <inttypes.h>

// So little keeps no sender waiting: whoever answers it need not wait until it was acknowledged.
#define LITTLE_BYTES 4096u
#define LATE_MS 40

void rd_credit_init(struct rd_credit *credit, uint32_t slots) {
  *credit = (struct rd_credit){.slots = slots};
}

bool rd_credit_available(const struct rd_credit *credit) {
  return credit->frames - credit->returned < credit->slots;
}

void rd_credit_spend(struct rd_credit *credit) {
  credit->frames++;
}

bool rd_credit_take(struct rd_credit *credit, uint64_t frames_consumed, struct rd_error *error) {
  if (frames_consumed < credit->returned || frames_consumed > credit->frames) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED,
                 "the receiver acknowledged frame %" PRIu64 ", but %" PRIu64 " to %" PRIu64 " were to be expected",
                 frames_consumed, credit->returned, credit->frames);
    return false;
  }
  credit->returned = frames_consumed;
  return true;
}

void rd_credit_consume(struct rd_credit *credit, size_t bytes, int64_t now_ms) {
  if (credit->frames == credit->returned) credit->owed_since_ms = now_ms;
  credit->frames++;
  credit->owed_bytes += bytes;
}

bool rd_credit_due(const struct rd_credit *credit, bool idle, int64_t now_ms) {
  uint64_t owed = credit->frames - credit->returned;
  if (owed == 0) return false;
  return owed * 2 >= credit->slots || (idle && rd_credit_timeout_ms(credit, now_ms) == 0);
}

int rd_credit_timeout_ms(const struct rd_credit *credit, int64_t now_ms) {
  if (credit->frames == credit->returned) return -1;
  int64_t left_ms = credit->owed_since_ms + LATE_MS - now_ms;
  return credit->owed_bytes < LITTLE_BYTES && left_ms > 0 ? (int)left_ms : 0;
}

void rd_credit_acknowledge(struct rd_credit *credit) {
  credit->returned = credit->frames;
  credit->owed_bytes = 0;
}
