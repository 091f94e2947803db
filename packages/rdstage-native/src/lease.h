// SPDX-License-Identifier: Apache-2.0
// Signs of life in both directions: we say that we are alive, and end when nothing was heard for too long.
#ifndef RD_STAGE_LEASE_H
#define RD_STAGE_LEASE_H

#include "agent.h"

// Before the first segment rdpipe may wait for a person.
#define LEASE_AT_FIRST_MS (600 * 1000)

struct lease {
  struct agent *agent;
  int64_t lease_ms;
  struct timer expiry, heartbeat;
  void (*expired)(void *context);
  void *context;
};

// Begins with LEASE_AT_FIRST_MS and a heartbeat.
void lease_start(struct lease *lease, struct agent *agent, void (*expired)(void *context), void *context);
void lease_set(struct lease *lease, int64_t lease_ms);
// Something was heard. Does nothing while the agent is suspended: that time does not count.
void lease_renew(struct lease *lease);
void lease_suspend(struct lease *lease);
void lease_stop(struct lease *lease);

#endif
