// SPDX-License-Identifier: Apache-2.0
// Decides how many threads seal: none until the caller is the bottleneck, then one more at a time.
#ifndef RD_CODEC_DEMAND_H
#define RD_CODEC_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

// All zeros at first.
struct rd_demand {
  unsigned threads; // the result
  int64_t since_ns, cpu_since_ns;
  unsigned frames, waiting;
};

// Call for each frame; `is_waiting`: an earlier frame still waits for a thread. Returns true if rd_demand_decide() is
// due.
bool rd_demand_frame(struct rd_demand *demand, int64_t now_ns, bool is_waiting);
// Decides again about `threads`; `cpu_ns`: the CPU time that the calling thread has used so far.
void rd_demand_decide(struct rd_demand *demand, int64_t now_ns, int64_t cpu_ns);

#endif
