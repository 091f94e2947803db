// SPDX-License-Identifier: Apache-2.0
#include "hop/liveness.h"

#define SILENT_ROUND_TRIPS 4 // on a slow line a PING takes time

static void take_sign(struct rd_liveness *liveness, int64_t heard_at_ms, uint64_t moved_bytes);

void rd_liveness_start(struct rd_liveness *liveness, int64_t stall_timeout_ms, int64_t now_ms) {
  *liveness = (struct rd_liveness){.stall_timeout_ms = stall_timeout_ms, .passed_at_ms = now_ms};
}

bool rd_liveness_pass(struct rd_liveness *liveness, int64_t now_ms) {
  int64_t away_ms = now_ms - liveness->passed_at_ms;
  liveness->passed_at_ms = now_ms;
  if (away_ms <= RD_STOPPED_AFTER_MS) return false;
  liveness->lived_at_ms += away_ms;
  liveness->reconnect_until_ms += away_ms;
  return true;
}

void rd_liveness_connected(struct rd_liveness *liveness, bool is_first, int64_t now_ms) {
  liveness->connected_at_ms = now_ms;
  if (is_first) liveness->lived_at_ms = now_ms;
}

enum rd_peer_life rd_liveness_check(struct rd_liveness *liveness, int64_t silent_ms, uint32_t rtt_us,
                                    uint64_t moved_bytes, int64_t now_ms) {
  int64_t long_ms = RD_SILENT_MS + SILENT_ROUND_TRIPS * (int64_t)rtt_us / 1000;
  take_sign(liveness, now_ms - silent_ms, moved_bytes);
  // Longer than the connection itself tolerates a silent peer.
  if (rd_liveness_lifeless_ms(liveness, now_ms) >= liveness->stall_timeout_ms + RD_SILENT_MS) return RD_PEER_STALLED;
  if (silent_ms < long_ms) return RD_PEER_ALIVE;
  return now_ms - liveness->refused_at_ms < long_ms ? RD_PEER_REFUSED : RD_PEER_SILENT;
}

int64_t rd_liveness_lifeless_ms(const struct rd_liveness *liveness, int64_t now_ms) {
  return now_ms - liveness->lived_at_ms;
}

void rd_liveness_refused(struct rd_liveness *liveness, int64_t now_ms) {
  liveness->refused_at_ms = now_ms;
}

void rd_liveness_broken(struct rd_liveness *liveness, bool closed, int64_t now_ms) {
  int64_t until_ms = liveness->lived_at_ms + liveness->stall_timeout_ms;
  bool soon = closed && now_ms + RD_CLOSED_RECONNECT_MS < until_ms;
  liveness->reconnect_until_ms = soon ? now_ms + RD_CLOSED_RECONNECT_MS : until_ms;
}

bool rd_liveness_may_reconnect(const struct rd_liveness *liveness, int64_t now_ms) {
  return now_ms < liveness->reconnect_until_ms;
}

// A sign of life: bytes moved, or frames on a connection that has lasted for a while.
static void take_sign(struct rd_liveness *liveness, int64_t heard_at_ms, uint64_t moved_bytes) {
  bool lives = moved_bytes != liveness->moved_bytes || heard_at_ms - liveness->connected_at_ms >= RD_SILENT_MS;
  liveness->moved_bytes = moved_bytes;
  if (lives && heard_at_ms > liveness->lived_at_ms) liveness->lived_at_ms = heard_at_ms;
}
