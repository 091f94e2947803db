// SPDX-License-Identifier: Apache-2.0
#include "life_signs.h"

// A loop that did not come by for so long was stopped (SIGSTOP, a suspended machine).
#define STOPPED_AFTER_MS 2000

static void take_pong(struct rd_life_signs *life, uint64_t number, int64_t now_ns);
static int64_t ping_due_ms(const struct rd_life_signs *life);

void rd_life_signs_start(struct rd_life_signs *life, int64_t stall_timeout_ms, int64_t now_ms) {
  *life = (struct rd_life_signs){.stall_timeout_ms = stall_timeout_ms, .heard_at_ms = now_ms, .ticked_at_ms = now_ms};
}

void rd_life_signs_measure(struct rd_life_signs *life) {
  life->owes_ping = true;
  life->to_measure = RD_FIRST_PINGS - 1;
}

void rd_life_signs_pinged(struct rd_life_signs *life, int64_t now_ns) {
  life->owes_ping = false;
  life->pings++;
  life->pinged_at_ns = now_ns;
}

bool rd_life_signs_take(struct rd_life_signs *life, const struct rd_frame *frame, int64_t now_ns) {
  life->heard_at_ms = now_ns / 1000000;
  if (frame->type == RD_FRAME_PONG) take_pong(life, frame->offset, now_ns);
  if (frame->type == RD_FRAME_PING) {
    life->owes_pong = true;
    life->pong_number = frame->offset;
  }
  return frame->type == RD_FRAME_PING || frame->type == RD_FRAME_PONG;
}

bool rd_life_signs_tick(struct rd_life_signs *life, int64_t now_ms) {
  int64_t away_ms = now_ms - life->ticked_at_ms;
  life->ticked_at_ms = now_ms;
  // We were stopped ourselves: that silence says nothing about the peer.
  if (away_ms > STOPPED_AFTER_MS) life->heard_at_ms = now_ms;
  if (now_ms - life->heard_at_ms >= life->stall_timeout_ms) return false;
  if (now_ms >= ping_due_ms(life)) life->owes_ping = true;
  return true;
}

int rd_life_signs_timeout_ms(const struct rd_life_signs *life, int64_t now_ms) {
  // The transport would not take it: it tells when it will, and asking it all the time would keep the processor busy.
  if (life->owes_ping) return RD_PING_AFTER_MS;
  int64_t due_ms = ping_due_ms(life);
  return due_ms > now_ms ? (int)(due_ms - now_ms) : 0;
}

// Only the last PING's: an older one may have waited for us, not for the peer.
static void take_pong(struct rd_life_signs *life, uint64_t number, int64_t now_ns) {
  if (life->pings == 0 || number != life->pings - 1) return;
  int64_t rtt_us = (now_ns - life->pinged_at_ns) / 1000;
  if (rtt_us < 1) rtt_us = 1;
  if (rtt_us > UINT32_MAX) rtt_us = UINT32_MAX;
  if (life->rtt_us == 0 || rtt_us < life->rtt_us) life->rtt_us = (uint32_t)rtt_us;
  if (life->to_measure == 0) return;
  life->to_measure--;
  life->owes_ping = true;
}

static int64_t ping_due_ms(const struct rd_life_signs *life) {
  int64_t pinged_at_ms = life->pinged_at_ns / 1000000;
  return (pinged_at_ms > life->heard_at_ms ? pinged_at_ms : life->heard_at_ms) + RD_PING_AFTER_MS;
}
