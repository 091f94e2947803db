// SPDX-License-Identifier: Apache-2.0
// Signs of life in both directions: we say that we are alive, and end when nothing was heard for too long.
#ifndef RD_STAGE_LEASE_H
#define RD_STAGE_LEASE_H

#include "run/agent.h"

// Before the first segment rdpipe may wait for a person.
#define RD_LEASE_AT_FIRST_MS (600 * 1000)

struct rd_lease {
  struct rd_agent *agent;
  int64_t lease_ms;
  struct rd_timer expiry, heartbeat;
  void (*expired)(void *context);
  void *context;
};

// Begins with RD_LEASE_AT_FIRST_MS and a heartbeat.
void rd_lease_start(struct rd_lease *lease, struct rd_agent *agent, void (*expired)(void *context), void *context);
void rd_lease_set(struct rd_lease *lease, int64_t lease_ms);
// Something was heard. Does nothing while the agent is suspended: that time does not count.
void rd_lease_renew(struct rd_lease *lease);
void rd_lease_suspend(struct rd_lease *lease);
void rd_lease_stop(struct rd_lease *lease);

#endif
