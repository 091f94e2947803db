// SPDX-License-Identifier: Apache-2.0
// Keepalives in both directions; ends the run if rdpipe is silent for too long.
#ifndef RD_STAGE_LEASE_H
#define RD_STAGE_LEASE_H

#include "run/agent.h"

// Lease until the first segment, because rdpipe may wait for the user. A served client, whose copy may wait for the
// user at another host, has less: requests neither renew nor suspend it, so that it does not hold a session of the
// server without copying.
#define RD_LEASE_AT_FIRST_MS (600 * 1000)
#define RD_LEASE_SERVED_AT_FIRST_MS (60 * 1000)

struct rd_lease {
  struct rd_agent *agent;
  int64_t lease_ms;
  bool is_fixed; // requests neither renew nor suspend it
  struct rd_timer expiry, heartbeat;
  void (*expired)(void *context);
  void *context;
};

// Starts the heartbeat and the lease until the first segment.
void rd_lease_start(struct rd_lease *lease, struct rd_agent *agent, void (*expired)(void *context), void *context);
// Changes the length of the lease, and renews it. Requests can renew and suspend it from now on.
void rd_lease_set(struct rd_lease *lease, int64_t lease_ms);
// A request arrived. Does nothing while the agent is suspended, because that time does not count.
void rd_lease_renew(struct rd_lease *lease);
// Stops only the expiry; heartbeats continue.
void rd_lease_suspend(struct rd_lease *lease);
void rd_lease_stop(struct rd_lease *lease);

#endif
