// SPDX-License-Identifier: Apache-2.0
// The counters of a hop's end: bytes of the stream, bytes on the wire, and time waited, by cause.
#ifndef RD_METER_H
#define RD_METER_H

#include "hop/control.h"

#define RD_COUNTERS_EVERY_MS 250

// RD_WAIT_WORKER: for threads that compress and seal, or open and decompress.
enum rd_wait { RD_WAIT_NONE, RD_WAIT_INPUT, RD_WAIT_LIMIT, RD_WAIT_WORKER, RD_WAIT_WIRE, RD_WAIT_OUTPUT };

struct rd_meter {
  uint64_t bytes;
  uint64_t wire_bytes;     // of the hop's connections, see rd_connection_wire_bytes()
  struct rd_limits limits; // of the hop's connections
  unsigned lanes;          // the most of a connection
  uint32_t rtt_us;
  int64_t waited_ns[RD_WAIT_OUTPUT + 1];
  int64_t emitted_at_ms;
};

void rd_meter_start(struct rd_meter *meter);
// The loop waited `waited_ns` for `wait`.
void rd_meter_add_wait(struct rd_meter *meter, enum rd_wait wait, int64_t waited_ns);
// Emits the counters.
void rd_meter_emit(struct rd_meter *meter, struct rd_control *control);
// Milliseconds until the counters are due.
int rd_meter_timeout_ms(const struct rd_meter *meter);

#endif
