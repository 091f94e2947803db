// SPDX-License-Identifier: Apache-2.0
// Decides whether a hop's peer is alive, from times and facts, without a clock of its own.
#ifndef RD_LIVENESS_H
#define RD_LIVENESS_H

#include "conn/keepalive.h"

// By then a PING has been unanswered for half a second.
#define RD_SILENT_MS (RD_PING_AFTER_MS + 500)
// A peer to which only silence tells that the connection has ended learns it after RD_SILENT_MS. A firewall that was
// restarted may take seconds to pass its packets, and TCP repeats them after 0.2, 0.6, 1.4, 3 and 6.2 s.
#define RD_CLOSED_RECONNECT_MS 15000
// A loop that did not pass for this long was stopped (SIGSTOP, a suspended machine).
#define RD_STOPPED_AFTER_MS 2000

// All times are on the clock of rd_now_ms().
struct rd_liveness {
  int64_t stall_timeout_ms;
  int64_t passed_at_ms;       // the last pass of the loop
  int64_t connected_at_ms;    // when the current connection was made
  int64_t lived_at_ms;        // the last sign of life
  int64_t refused_at_ms;      // when another connection was refused while this one was silent; 0: never
  int64_t reconnect_until_ms; // while there is no connection
  uint64_t moved_bytes;       // of the stream, at the last check
};

enum rd_peer_life {
  RD_PEER_ALIVE,
  RD_PEER_SILENT,  // another connection is worth a try
  RD_PEER_REFUSED, // also silent, but such a try was refused a moment ago
  RD_PEER_STALLED, // give up
};

// Begins a hop, which has no connection yet.
void rd_liveness_start(struct rd_liveness *liveness, int64_t stall_timeout_ms, int64_t now_ms);
// Call once per pass of the loop. Returns true if this process was stopped since the last pass, so that the silence in
// between must not count against the peer.
bool rd_liveness_pass(struct rd_liveness *liveness, int64_t now_ms);
// A connection was made. This counts as a sign of life only if it is the hop's first one.
void rd_liveness_connected(struct rd_liveness *liveness, bool is_first, int64_t now_ms);
// Returns the state of a peer that has been silent for `silent_ms`, at a round trip of `rtt_us`, when `moved_bytes` of
// the stream have moved. Connections that complete the handshake and carry nothing are not a sign of life, however many
// there are.
enum rd_peer_life rd_liveness_check(struct rd_liveness *liveness, int64_t silent_ms, uint32_t rtt_us,
                                    uint64_t moved_bytes, int64_t now_ms);
// Milliseconds since the last sign of life.
int64_t rd_liveness_lifeless_ms(const struct rd_liveness *liveness, int64_t now_ms);
// The peer refused another connection.
void rd_liveness_refused(struct rd_liveness *liveness, int64_t now_ms);
// The connection broke; `closed`: the peer closed or reset it.
void rd_liveness_broken(struct rd_liveness *liveness, bool closed, int64_t now_ms);
// Returns true if, without a connection, there may still be another one.
bool rd_liveness_may_reconnect(const struct rd_liveness *liveness, int64_t now_ms);

#endif
