// SPDX-License-Identifier: Apache-2.0
#include "credit.h"

#include <inttypes.h>

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

void rd_credit_consume(struct rd_credit *credit) {
  credit->frames++;
}

bool rd_credit_due(const struct rd_credit *credit, bool idle) {
  uint64_t owed = credit->frames - credit->returned;
  return owed > 0 && (idle || owed * 2 >= credit->slots);
}

void rd_credit_acknowledge(struct rd_credit *credit) {
  credit->returned = credit->frames;
}
