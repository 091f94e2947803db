// SPDX-License-Identifier: Apache-2.0
#include "conn/credit.h"

#include "test.h"
#include "wire/wire.h"

#include <string.h>

#define MUCH_BYTES 4096u

static struct rd_error error;

static void sender_spends_and_takes(void) {
  struct rd_credit credit;
  rd_credit_init(&credit, 3, 0);
  for (int i = 0; i < 3; i++) {
    CHECK(rd_credit_available(&credit));
    rd_credit_spend(&credit, MUCH_BYTES);
  }
  CHECK(!rd_credit_available(&credit));
  CHECK(rd_credit_take(&credit, 2, &error));
  rd_credit_spend(&credit, MUCH_BYTES);
  rd_credit_spend(&credit, MUCH_BYTES);
  CHECK(!rd_credit_available(&credit));
  CHECK(rd_credit_take(&credit, 2, &error)); // nothing new: a late answer
  CHECK(!rd_credit_take(&credit, 1, &error) && error.code == RD_CODE_DATA_DAMAGED);
  CHECK(!rd_credit_take(&credit, 6, &error) && error.code == RD_CODE_DATA_DAMAGED);
  CHECK(strcmp(error.message, "the receiver acknowledged frame 6, expected 2 to 5") == 0);
  CHECK(!rd_credit_available(&credit));
  CHECK(rd_credit_take(&credit, 5, &error) && rd_credit_available(&credit));
}

static void receiver_acknowledges_a_quarter(void) {
  struct rd_credit credit;
  rd_credit_init(&credit, 16, 0);
  CHECK(!rd_credit_due(&credit, true, 0));
  for (int i = 0; i < 3; i++) rd_credit_consume(&credit, MUCH_BYTES, 0);
  CHECK(!rd_credit_due(&credit, false, 0));
  CHECK(rd_credit_due(&credit, true, 0));
  rd_credit_consume(&credit, MUCH_BYTES, 0);
  CHECK(rd_credit_due(&credit, false, 0));
  rd_credit_acknowledge(&credit);
  CHECK(credit.returned == 4 && !rd_credit_due(&credit, true, 0));
}

static void receiver_acknowledges_a_mebibyte(void) {
  struct rd_credit credit;
  rd_credit_init(&credit, 32, 0);
  for (int i = 0; i < 3; i++) rd_credit_consume(&credit, 256 << 10, 0);
  CHECK(!rd_credit_due(&credit, false, 0));
  rd_credit_consume(&credit, 256 << 10, 0);
  CHECK(rd_credit_due(&credit, false, 0));
}

// A few bytes that an application waits for in order to answer: their acknowledgement may come later.
static void little_may_wait(void) {
  struct rd_credit credit;
  rd_credit_init(&credit, 16, 0);
  CHECK(rd_credit_timeout_ms(&credit, 1000) == -1);
  rd_credit_consume(&credit, 64, 1000);
  rd_credit_consume(&credit, 64, 1039);
  CHECK(!rd_credit_due(&credit, true, 1039) && rd_credit_timeout_ms(&credit, 1039) == 1);
  CHECK(rd_credit_due(&credit, true, 1040) && !rd_credit_due(&credit, false, 1040));
  rd_credit_acknowledge(&credit);
  CHECK(rd_credit_timeout_ms(&credit, 1040) == -1 && !rd_credit_due(&credit, true, 2000));
  rd_credit_consume(&credit, 4000, 2000);
  CHECK(!rd_credit_due(&credit, true, 2000));
  rd_credit_consume(&credit, 96, 2000); // now it is enough
  CHECK(rd_credit_due(&credit, true, 2000) && rd_credit_timeout_ms(&credit, 2000) == 0);
  rd_credit_acknowledge(&credit);
  for (int i = 0; i < 4; i++) rd_credit_consume(&credit, 1, 3000);
  CHECK(rd_credit_due(&credit, false, 3000)); // a quarter of the slots
}

// With one slot an ACK must be due at once, otherwise the sender waits forever.
static void a_single_slot_never_stalls(void) {
  struct rd_credit sender, receiver;
  rd_credit_init(&sender, 1, 0);
  rd_credit_init(&receiver, 1, 0);
  for (int i = 0; i < 10; i++) {
    CHECK(rd_credit_available(&sender));
    rd_credit_spend(&sender, MUCH_BYTES);
    CHECK(!rd_credit_available(&sender));
    rd_credit_consume(&receiver, 1, 0);
    CHECK(rd_credit_due(&receiver, false, 0));
    rd_credit_acknowledge(&receiver);
    CHECK(rd_credit_take(&sender, receiver.returned, &error));
  }
}

// These are in addition to the slots, and only small frames fit; when they are used up, a small frame takes a slot.
static void small_frames_have_slots_of_their_own(void) {
  struct rd_credit credit;
  rd_credit_init(&credit, 2, 3);
  for (int i = 0; i < 3; i++) rd_credit_spend(&credit, RD_SMALL_BYTES); // frames 1 to 3
  rd_credit_spend(&credit, RD_SMALL_BYTES + 1);                         // 4
  CHECK(rd_credit_available(&credit));
  rd_credit_spend(&credit, 1); // 5, in an ordinary slot
  CHECK(!rd_credit_available(&credit));
  CHECK(rd_credit_take(&credit, 3, &error) && !rd_credit_available(&credit));
  CHECK(rd_credit_take(&credit, 4, &error) && rd_credit_available(&credit));
  for (int i = 0; i < 3; i++) rd_credit_spend(&credit, 1); // 6 to 8
  CHECK(rd_credit_available(&credit));
  rd_credit_spend(&credit, MUCH_BYTES); // 9
  CHECK(!rd_credit_available(&credit));
  CHECK(rd_credit_take(&credit, 7, &error) && rd_credit_available(&credit));
  rd_credit_spend(&credit, MUCH_BYTES);
  CHECK(!rd_credit_available(&credit) && rd_credit_take(&credit, 10, &error) && rd_credit_available(&credit));
}

// Whatever a peer grants, it is limited to the number that can be remembered.
static void small_slots_are_bounded(void) {
  struct rd_credit credit;
  rd_credit_init(&credit, 1, UINT32_MAX);
  unsigned spent = 0;
  for (; rd_credit_available(&credit); spent++) rd_credit_spend(&credit, 1);
  CHECK(spent == RD_SMALL_SLOTS + 1);
  CHECK(rd_credit_take(&credit, spent, &error) && rd_credit_available(&credit));
}

static void small_frames_are_acknowledged_by_half_of_their_slots(void) {
  struct rd_credit credit;
  rd_credit_init(&credit, 16, 100);
  for (int i = 0; i < 49; i++) rd_credit_consume(&credit, 10, 1000);
  CHECK(!rd_credit_due(&credit, true, 1039));
  CHECK(rd_credit_due(&credit, true, 1040));
  rd_credit_consume(&credit, 10, 1000);
  CHECK(rd_credit_due(&credit, false, 1000));
  rd_credit_acknowledge(&credit);
  CHECK(!rd_credit_due(&credit, true, 2000));
  for (int i = 0; i < 3; i++) rd_credit_consume(&credit, MUCH_BYTES, 2000);
  rd_credit_consume(&credit, 10, 2000);
  CHECK(!rd_credit_due(&credit, false, 2000));
  rd_credit_consume(&credit, MUCH_BYTES, 2000);
  CHECK(rd_credit_due(&credit, false, 2000));
}

static void more_than_the_slots_is_damage(void) {
  struct rd_credit credit;
  rd_credit_init(&credit, 2, 3);
  for (int i = 0; i < 2; i++) CHECK(rd_credit_arrive(&credit, MUCH_BYTES, &error));
  CHECK(rd_credit_arrive(&credit, RD_SMALL_BYTES, &error));
  rd_credit_consume(&credit, MUCH_BYTES, 0);
  CHECK(rd_credit_arrive(&credit, MUCH_BYTES, &error));
  CHECK(!rd_credit_arrive(&credit, MUCH_BYTES, &error) && error.code == RD_CODE_DATA_DAMAGED);
  rd_credit_init(&credit, 2, 3);
  for (int i = 0; i < 5; i++) CHECK(rd_credit_arrive(&credit, 1, &error));
  CHECK(!rd_credit_arrive(&credit, 1, &error));
  rd_credit_init(&credit, 2, 0);
  for (int i = 0; i < 2; i++) CHECK(rd_credit_arrive(&credit, 1, &error));
  CHECK(!rd_credit_arrive(&credit, 1, &error));
}

int main(void) {
  sender_spends_and_takes();
  receiver_acknowledges_a_quarter();
  receiver_acknowledges_a_mebibyte();
  little_may_wait();
  a_single_slot_never_stalls();
  small_frames_have_slots_of_their_own();
  small_slots_are_bounded();
  small_frames_are_acknowledged_by_half_of_their_slots();
  more_than_the_slots_is_damage();
  return test_end("credit");
}
