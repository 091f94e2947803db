// SPDX-License-Identifier: Apache-2.0
#include "hop/meter.h"

#include "base/io.h"

void rd_meter_start(struct rd_meter *meter) {
  *meter = (struct rd_meter){.emitted_at_ms = rd_now_ms()};
}

void rd_meter_add_wait(struct rd_meter *meter, enum rd_wait wait, int64_t waited_ns) {
  meter->waited_ns[wait] += waited_ns;
}

void rd_meter_emit(struct rd_meter *meter, struct rd_control *control) {
  meter->emitted_at_ms = rd_now_ms();
  struct rd_event event = {
      .type = RD_EVENT_COUNTERS,
      .bytes = meter->bytes,
      .wire_bytes = meter->wire_bytes,
      .waits = {.input_ms = meter->waited_ns[RD_WAIT_INPUT] / RD_NS_A_MS,
                .limit_ms = meter->waited_ns[RD_WAIT_LIMIT] / RD_NS_A_MS,
                .worker_ms = meter->waited_ns[RD_WAIT_WORKER] / RD_NS_A_MS,
                .wire_ms = meter->waited_ns[RD_WAIT_WIRE] / RD_NS_A_MS,
                .output_ms = meter->waited_ns[RD_WAIT_OUTPUT] / RD_NS_A_MS},
      .limits = meter->limits,
      .lanes = meter->lanes,
      .rtt_us = meter->rtt_us,
  };
  control->ops->emit(control, &event);
}

int rd_meter_timeout_ms(const struct rd_meter *meter) {
  int64_t left_ms = meter->emitted_at_ms + RD_COUNTERS_EVERY_MS - rd_now_ms();
  return left_ms > 0 ? (int)left_ms : 0;
}
