// SPDX-License-Identifier: Apache-2.0
#include "conn/keepalive.h"

// A process that did not tick for this long was stopped (SIGSTOP, a suspended machine).
#define STOPPED_AFTER_MS 2000

static void take_pong(struct rd_keepalive *keepalive, uint64_t number, int64_t now_ns);
static int64_t ping_due_ms(const struct rd_keepalive *keepalive);

void rd_keepalive_start(struct rd_keepalive *keepalive, int64_t stall_timeout_ms, int64_t now_ms) {
  *keepalive =
      (struct rd_keepalive){.stall_timeout_ms = stall_timeout_ms, .received_at_ms = now_ms, .ticked_at_ms = now_ms};
}

void rd_keepalive_measure(struct rd_keepalive *keepalive) {
  keepalive->ping_pending = true;
  keepalive->to_measure = RD_FIRST_PINGS - 1;
}

void rd_keepalive_pinged(struct rd_keepalive *keepalive, int64_t now_ns) {
  keepalive->ping_pending = false;
  keepalive->pings++;
  keepalive->pinged_at_ns = now_ns;
}

bool rd_keepalive_take(struct rd_keepalive *keepalive, const struct rd_frame *frame, int64_t now_ns) {
  keepalive->received_at_ms = now_ns / 1000000;
  if (frame->type == RD_FRAME_PONG) take_pong(keepalive, frame->offset, now_ns);
  if (frame->type == RD_FRAME_PING) {
    keepalive->pong_pending = true;
    keepalive->pong_number = frame->offset;
  }
  return frame->type == RD_FRAME_PING || frame->type == RD_FRAME_PONG;
}

bool rd_keepalive_tick(struct rd_keepalive *keepalive, int64_t now_ms) {
  int64_t away_ms = now_ms - keepalive->ticked_at_ms;
  keepalive->ticked_at_ms = now_ms;
  // This process was stopped: the silence does not count against the peer.
  if (away_ms > STOPPED_AFTER_MS) keepalive->received_at_ms = now_ms;
  if (now_ms - keepalive->received_at_ms >= keepalive->stall_timeout_ms) return false;
  if (now_ms >= ping_due_ms(keepalive)) keepalive->ping_pending = true;
  return true;
}

int rd_keepalive_timeout_ms(const struct rd_keepalive *keepalive, int64_t now_ms) {
  // The transport did not accept the PING yet: its descriptor wakes this process, and a timeout of 0 would busy-wait.
  if (keepalive->ping_pending) return RD_PING_AFTER_MS;
  int64_t due_ms = ping_due_ms(keepalive);
  return due_ms > now_ms ? (int)(due_ms - now_ms) : 0;
}

// Only counts the answer to the last PING: an older answer may have waited for this process, not for the peer.
static void take_pong(struct rd_keepalive *keepalive, uint64_t number, int64_t now_ns) {
  if (keepalive->pings == 0 || number != keepalive->pings - 1) return;
  int64_t rtt_us = (now_ns - keepalive->pinged_at_ns) / 1000;
  if (rtt_us < 1) rtt_us = 1;
  if (rtt_us > UINT32_MAX) rtt_us = UINT32_MAX;
  if (keepalive->rtt_us == 0 || rtt_us < keepalive->rtt_us) keepalive->rtt_us = (uint32_t)rtt_us;
  if (keepalive->to_measure == 0) return;
  keepalive->to_measure--;
  keepalive->ping_pending = true;
}

static int64_t ping_due_ms(const struct rd_keepalive *keepalive) {
  int64_t pinged_at_ms = keepalive->pinged_at_ns / 1000000;
  return (pinged_at_ms > keepalive->received_at_ms ? pinged_at_ms : keepalive->received_at_ms) + RD_PING_AFTER_MS;
}
