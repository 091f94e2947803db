// SPDX-License-Identifier: Apache-2.0
// The keepalive, PING and PONG: due times, liveness and round trips.
// See docs/protocol/wire.md, section 1.5.
// It does not send anything itself. All times are on the clocks of rd_now_ms() and rd_now_ns().
#ifndef RD_CONN_KEEPALIVE_H
#define RD_CONN_KEEPALIVE_H

#include "wire/wire.h"

#define RD_PING_AFTER_MS 1000
#define RD_FIRST_PINGS 4u // of a sender, one after another

struct rd_keepalive {
  int64_t stall_timeout_ms;
  int64_t received_at_ms, ticked_at_ms;
  int64_t pinged_at_ns; // the last PING; 0: none yet
  uint64_t pings;       // sent
  unsigned to_measure;  // PINGs still to send for measuring, each after the answer to the last one
  bool ping_pending;
  bool pong_pending;
  uint64_t pong_number;
  uint32_t rtt_us; // the shortest so far; 0: none yet
};

// A connection begins: the peer counts as just heard from.
void rd_keepalive_start(struct rd_keepalive *keepalive, int64_t stall_timeout_ms, int64_t now_ms);
// A sender begins: RD_FIRST_PINGS are to be sent.
void rd_keepalive_measure(struct rd_keepalive *keepalive);
// The pending PING was sent, with the number keepalive->pings.
void rd_keepalive_pinged(struct rd_keepalive *keepalive, int64_t now_ns);
// A frame arrived. Returns true if it was a PING or PONG, which is now handled.
bool rd_keepalive_take(struct rd_keepalive *keepalive, const struct rd_frame *frame, int64_t now_ns);
// Call after every poll, when all arrived frames were taken; may set ping_pending. Returns false if the peer was silent
// for the stall timeout.
bool rd_keepalive_tick(struct rd_keepalive *keepalive, int64_t now_ms);
// Milliseconds until rd_keepalive_tick() has to be called.
int rd_keepalive_timeout_ms(const struct rd_keepalive *keepalive, int64_t now_ms);

#endif
