// SPDX-License-Identifier: Apache-2.0
#include "codec/demand.h"

#define PERIOD_NS 100000000
#define BUSY_PERCENT 90

static bool is_bottleneck(const struct rd_demand *demand, int64_t now_ns, int64_t cpu_ns);

bool rd_demand_frame(struct rd_demand *demand, int64_t now_ns, bool is_waiting) {
  demand->frames++;
  demand->waiting += is_waiting;
  return demand->since_ns == 0 || now_ns - demand->since_ns >= PERIOD_NS;
}

void rd_demand_decide(struct rd_demand *demand, int64_t now_ns, int64_t cpu_ns) {
  bool grows = demand->since_ns > 0 && is_bottleneck(demand, now_ns, cpu_ns);
  unsigned threads = demand->threads + (grows ? 1 : 0);
  *demand = (struct rd_demand){.threads = threads, .since_ns = now_ns, .cpu_since_ns = cpu_ns};
}

// Without threads, the caller is the bottleneck if it hardly ever waits; with threads, they are if frames wait for
// them.
static bool is_bottleneck(const struct rd_demand *demand, int64_t now_ns, int64_t cpu_ns) {
  if (demand->threads > 0) return demand->waiting * 100 >= demand->frames * BUSY_PERCENT;
  return (cpu_ns - demand->cpu_since_ns) * 100 >= (now_ns - demand->since_ns) * BUSY_PERCENT;
}
