// SPDX-License-Identifier: Apache-2.0
// Messages and releases in any order come out in order, also past the largest number.
#include "transport/reorder.h"

#include "test.h"

#include <stdlib.h>

enum { MESSAGES = 100000, AHEAD = 900 };

static struct rd_reorder reorder;
static struct rd_release_count count;
static unsigned char bytes[1];

// Each number comes up to AHEAD places too early or too late.
static void any_order(unsigned first) {
  static uint32_t order[MESSAGES];
  struct rd_message message = {.data = bytes};
  uint32_t taken = 0;
  for (uint32_t i = 0; i < MESSAGES; i++) order[i] = i;
  for (uint32_t at = 0; at + AHEAD <= MESSAGES; at += AHEAD)
    for (uint32_t i = AHEAD - 1; i > 0; i--) {
      uint32_t other = at + (uint32_t)rand() % (i + 1), held = order[at + i];
      order[at + i] = order[other];
      order[other] = held;
    }
  rd_reorder_init(&reorder, first);
  for (uint32_t i = 0; i < MESSAGES; i++) {
    message.slot = order[i];
    REQUIRE(rd_reorder_put(&reorder, (first + order[i]) % RD_MESSAGE_NUMBERS, &message));
    for (struct rd_message next; rd_reorder_take(&reorder, &next); taken++) CHECK(next.slot == taken);
  }
  CHECK(taken == MESSAGES);
}

static void one_message_a_number(void) {
  struct rd_message message = {.data = bytes}, taken;
  rd_reorder_init(&reorder, 0);
  CHECK(rd_reorder_put(&reorder, 1, &message) && !rd_reorder_put(&reorder, 1, &message));
  CHECK(!rd_reorder_take(&reorder, &taken));
}

static void releases(void) {
  for (uint64_t index = 0; index < MESSAGES; index += 2) {
    rd_release_count_add(&count, index + 1);
    CHECK(count.prefix == index);
    rd_release_count_add(&count, index);
    CHECK(count.prefix == index + 2);
  }
}

int main(void) {
  any_order(0);
  any_order(1);
  one_message_a_number();
  releases();
  return test_end("reorder");
}
