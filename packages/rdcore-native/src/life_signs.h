// SPDX-License-Identifier: Apache-2.0
// PING and PONG (docs/protocol.md, section 1.5): when they are due, whether the peer still lives, and how long a round
// trip takes. Sends nothing itself. All times are on the clocks of rd_now_ms() and rd_now_ns().
#ifndef RD_LIFE_SIGNS_H
#define RD_LIFE_SIGNS_H

#include "wire.h"

#define RD_PING_AFTER_MS 1000
#define RD_FIRST_PINGS 4u // of a sender, one after the other

struct rd_life_signs {
  int64_t stall_timeout_ms;
  int64_t heard_at_ms, ticked_at_ms;
  int64_t pinged_at_ns; // the last PING; 0: none yet
  uint64_t pings;       // sent
  unsigned to_measure;  // further PINGs, each when the one before it was answered
  bool owes_ping;
  bool owes_pong;
  uint64_t pong_number;
  uint32_t rtt_us; // the shortest; 0: none yet
};

void rd_life_signs_start(struct rd_life_signs *life, int64_t stall_timeout_ms, int64_t now_ms);
// A sender begins: RD_FIRST_PINGS are owed.
void rd_life_signs_measure(struct rd_life_signs *life);
// The PING that was owed went out, with the number life->pings.
void rd_life_signs_pinged(struct rd_life_signs *life, int64_t now_ns);
// A frame came. True: it was a life sign, and is dealt with.
bool rd_life_signs_take(struct rd_life_signs *life, const struct rd_frame *frame, int64_t now_ns);
// Call it after every poll, when everything that had arrived was taken: a PING may be owed then. False: the peer was
// silent for the stall timeout.
bool rd_life_signs_tick(struct rd_life_signs *life, int64_t now_ms);
// Milliseconds until rd_life_signs_tick() has something to do.
int rd_life_signs_timeout_ms(const struct rd_life_signs *life, int64_t now_ms);

#endif
