// SPDX-License-Identifier: Apache-2.0
// The keepalive, PING and PONG (docs/protocol.md, section 1.5): due times, liveness and round trips.
// It sends nothing itself. All times are on the clocks of rd_now_ms() and rd_now_ns().
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
  unsigned to_measure;  // further PINGs, each after the last one was answered
  bool ping_pending;
  bool pong_pending;
  uint64_t pong_number;
  uint32_t rtt_us; // the shortest; 0: none yet
};

void rd_keepalive_start(struct rd_keepalive *keepalive, int64_t stall_timeout_ms, int64_t now_ms);
// A sender begins: RD_FIRST_PINGS are to be sent.
void rd_keepalive_measure(struct rd_keepalive *keepalive);
// The pending PING was sent, with the number keepalive->pings.
void rd_keepalive_pinged(struct rd_keepalive *keepalive, int64_t now_ns);
// A frame arrived. True: it was a PING or PONG, and is handled.
bool rd_keepalive_take(struct rd_keepalive *keepalive, const struct rd_frame *frame, int64_t now_ns);
// Call it after every poll, when all arrived frames were taken: a PING may be pending then. False: the peer was silent
// for the stall timeout.
bool rd_keepalive_tick(struct rd_keepalive *keepalive, int64_t now_ms);
// Milliseconds until rd_keepalive_tick() has something to do.
int rd_keepalive_timeout_ms(const struct rd_keepalive *keepalive, int64_t now_ms);

#endif
