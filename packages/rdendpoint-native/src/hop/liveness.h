// SPDX-License-Identifier: Apache-2.0
// The liveness of a hop's peer: decisions on times and facts, without a clock.
#ifndef RD_LIVENESS_H
#define RD_LIVENESS_H

#include "conn/keepalive.h"

// A PING has then gone unanswered for half a second.
#define RD_SILENT_MS (RD_PING_AFTER_MS + 500)
// A peer that closes a connection while the network works, and wants another one, connects at once.
#define RD_CLOSED_RECONNECT_MS 5000
// A loop that did not pass for so long was stopped (SIGSTOP, a suspended machine).
#define RD_STOPPED_AFTER_MS 2000

// All times are on the clock of rd_now_ms().
struct rd_liveness {
  int64_t stall_timeout_ms;
  int64_t passed_at_ms;       // the loop, last
  int64_t connected_at_ms;    // the present connection
  int64_t lived_at_ms;        // the last sign of life
  int64_t refused_at_ms;      // another connection, beside a silent one; 0: none was
  int64_t reconnect_until_ms; // while there is no connection
  uint64_t moved_bytes;       // of the stream, at the last look
};

enum rd_peer_life {
  RD_PEER_ALIVE,
  RD_PEER_SILENT,  // another connection is worth a try
  RD_PEER_REFUSED, // silent too, but such a try was refused a moment ago
  RD_PEER_STALLED, // the end
};

void rd_liveness_start(struct rd_liveness *liveness, int64_t stall_timeout_ms, int64_t now_ms);
// Once a pass of the loop. True: this process was stopped since the last pass, so that the silence meanwhile is not the
// peer's.
bool rd_liveness_pass(struct rd_liveness *liveness, int64_t now_ms);
// A connection was made, which is a sign of life only when it is the hop's first one.
void rd_liveness_connected(struct rd_liveness *liveness, bool is_first, int64_t now_ms);
// The state of a peer that has been silent for `silent_ms`, at a round trip of `rtt_us`, when `moved_bytes` of the
// stream have moved. Connections that complete the handshake and carry nothing are no sign of life, however many.
enum rd_peer_life rd_liveness_check(struct rd_liveness *liveness, int64_t silent_ms, uint32_t rtt_us,
                                    uint64_t moved_bytes, int64_t now_ms);
// Milliseconds since the last sign of life.
int64_t rd_liveness_lifeless_ms(const struct rd_liveness *liveness, int64_t now_ms);
// The peer refused another connection.
void rd_liveness_refused(struct rd_liveness *liveness, int64_t now_ms);
// The connection broke; `closed`: the peer closed or reset it.
void rd_liveness_broken(struct rd_liveness *liveness, bool closed, int64_t now_ms);
// There is no connection: may there still be another one?
bool rd_liveness_may_reconnect(const struct rd_liveness *liveness, int64_t now_ms);

#endif
