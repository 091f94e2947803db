// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/flow.h"

#include "test.h"
#include "wire/wire.h"

enum { LARGE_BYTES = RD_HEADER_BYTES + 5000 + RD_TAG_BYTES, LARGE = 5 };

static struct rd_error error;

static void preamble_there_and_back(void) {
  const struct rd_verbs_preamble out = {0x01020304, 5, 0xfffffffe, 1048616};
  unsigned char bytes[RD_VERBS_PREAMBLE_BYTES];
  struct rd_verbs_preamble in;
  rd_verbs_preamble_encode(&out, bytes);
  rd_verbs_preamble_decode(bytes, &in);
  CHECK(bytes[0] == 4 && bytes[3] == 1); // little-endian
  CHECK(in.message == out.message && in.small_posted == out.small_posted);
  CHECK(in.large_posted == out.large_posted && in.large_bytes == out.large_bytes);
}

static unsigned spend_all(struct rd_verbs_flow *flow, bool with_message) {
  unsigned spent = 0;
  for (; rd_verbs_flow_has_buffer(flow, with_message); spent++) rd_verbs_flow_spend(flow);
  return spent;
}

static void keeps_the_last_buffer_for_counts(void) {
  struct rd_verbs_flow flow;
  rd_verbs_flow_init(&flow);
  CHECK(rd_verbs_flow_room_bytes(&flow) == RD_VERBS_SMALL_BUFFER_BYTES);
  CHECK(spend_all(&flow, true) == RD_VERBS_SMALL_BUFFERS - 1);
  CHECK(rd_verbs_flow_has_buffer(&flow, false));
  CHECK(spend_all(&flow, false) == 1);
}

// Passes one end's announcement to the other end.
static void tell(struct rd_verbs_flow *from, struct rd_verbs_flow *to) {
  struct rd_verbs_preamble preamble;
  rd_verbs_flow_announce(from, 0, &preamble);
  CHECK(rd_verbs_flow_take(to, &preamble, &error));
}

static void small_buffers_first_then_large(void) {
  struct rd_verbs_flow sender, receiver;
  rd_verbs_flow_init(&sender);
  rd_verbs_flow_init(&receiver);
  for (unsigned i = 0; i < LARGE; i++) rd_verbs_flow_post_large(&receiver, LARGE_BYTES);
  CHECK(rd_verbs_flow_is_due(&receiver, LARGE));
  tell(&receiver, &sender);
  CHECK(!rd_verbs_flow_is_due(&receiver, LARGE));
  for (unsigned i = 0; i < RD_VERBS_SMALL_BUFFERS; i++) {
    CHECK(rd_verbs_flow_room_bytes(&sender) == RD_VERBS_SMALL_BUFFER_BYTES);
    rd_verbs_flow_spend(&sender);
  }
  CHECK(rd_verbs_flow_room_bytes(&sender) == LARGE_BYTES);
  CHECK(spend_all(&sender, false) == LARGE);
}

static void due_when_half_are_unannounced(void) {
  struct rd_verbs_flow flow;
  rd_verbs_flow_init(&flow);
  CHECK(!rd_verbs_flow_is_due(&flow, RD_VERBS_SMALL_BUFFERS));
  for (unsigned i = 0; i < RD_VERBS_SMALL_BUFFERS / 2; i++) {
    CHECK(!rd_verbs_flow_is_due(&flow, RD_VERBS_SMALL_BUFFERS));
    rd_verbs_flow_post_small(&flow);
  }
  CHECK(rd_verbs_flow_is_due(&flow, RD_VERBS_SMALL_BUFFERS));
  struct rd_verbs_preamble preamble;
  rd_verbs_flow_announce(&flow, 77, &preamble);
  CHECK(preamble.message == 77 && preamble.small_posted == RD_VERBS_SMALL_BUFFERS + RD_VERBS_SMALL_BUFFERS / 2);
  CHECK(!rd_verbs_flow_is_due(&flow, RD_VERBS_SMALL_BUFFERS));
}

// Two ends that send as much as they may, one SEND at a time; the counts wrap around meanwhile.
static void counts_wrap_around(void) {
  struct rd_verbs_flow ends[2];
  for (int i = 0; i < 2; i++) {
    rd_verbs_flow_init(&ends[i]);
    ends[i].ours.large_posted = ends[i].announced.large_posted = UINT32_MAX - 10;
    ends[i].peers = (struct rd_verbs_preamble){.small_posted = RD_VERBS_SMALL_BUFFERS, .large_posted = UINT32_MAX - 10};
    ends[i].large_used = UINT32_MAX - 10;
    ends[i].small_used = RD_VERBS_SMALL_BUFFERS;
  }
  for (unsigned i = 0; i < LARGE; i++) rd_verbs_flow_post_large(&ends[1], LARGE_BYTES);
  for (int round = 0; round < 100; round++) {
    tell(&ends[1], &ends[0]);
    unsigned sent = spend_all(&ends[0], true);
    CHECK(sent == (round == 0 ? LARGE - 1u : sent) && sent >= LARGE - 1 && sent <= LARGE);
    for (unsigned i = 0; i < sent; i++) rd_verbs_flow_post_large(&ends[1], LARGE_BYTES);
  }
}

static bool takes(uint32_t small, uint32_t large, uint32_t bytes) {
  struct rd_verbs_flow flow;
  rd_verbs_flow_init(&flow);
  const struct rd_verbs_preamble before = {
      .small_posted = RD_VERBS_SMALL_BUFFERS, .large_posted = 4, .large_bytes = LARGE_BYTES};
  REQUIRE(rd_verbs_flow_take(&flow, &before, &error));
  const struct rd_verbs_preamble next = {.small_posted = small, .large_posted = large, .large_bytes = bytes};
  bool taken = rd_verbs_flow_take(&flow, &next, &error);
  CHECK(taken || error.code == RD_CODE_DATA_DAMAGED);
  return taken;
}

static void refuses_impossible_counts(void) {
  struct rd_verbs_flow flow;
  CHECK(takes(RD_VERBS_SMALL_BUFFERS, 4, LARGE_BYTES) && takes(RD_VERBS_SMALL_BUFFERS, 60, LARGE_BYTES));
  CHECK(!takes(RD_VERBS_SMALL_BUFFERS, 3, LARGE_BYTES));                              // the count decreases
  CHECK(!takes(RD_VERBS_SMALL_BUFFERS + 1, 5, LARGE_BYTES));                          // small ones after large ones
  CHECK(!takes(RD_VERBS_SMALL_BUFFERS, 5, LARGE_BYTES + 1));                          // another size
  CHECK(!takes(RD_VERBS_SMALL_BUFFERS, RD_VERBS_LARGE_BUFFERS_MAX + 1, LARGE_BYTES)); // more than allowed
  const struct rd_verbs_preamble wrong[] = {
      {.small_posted = RD_VERBS_SMALL_BUFFERS + 1}, // none of the first ones was used
      {.small_posted = RD_VERBS_SMALL_BUFFERS, .large_posted = 1, .large_bytes = RD_HEADER_BYTES - 1},
      {.small_posted = RD_VERBS_SMALL_BUFFERS, .large_posted = 1, .large_bytes = 2 * RD_SLOT_MAX_BYTES},
      {.small_posted = RD_VERBS_SMALL_BUFFERS, .large_bytes = LARGE_BYTES}, // a size, but no buffer
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    rd_verbs_flow_init(&flow);
    CHECK(!rd_verbs_flow_take(&flow, &wrong[i], &error) && error.code == RD_CODE_DATA_DAMAGED);
  }
}

int main(void) {
  preamble_there_and_back();
  keeps_the_last_buffer_for_counts();
  small_buffers_first_then_large();
  due_when_half_are_unannounced();
  counts_wrap_around();
  refuses_impossible_counts();
  return test_end("flow");
}
