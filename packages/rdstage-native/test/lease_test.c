// SPDX-License-Identifier: Apache-2.0
// Tests of the lease until the first segment: requests renew and suspend it, but not that of a served client.
#include "run/lease.h"
#include "test.h"

#include <sys/socket.h>
#include <unistd.h>

static void never(void *context) {
  (void)context;
  CHECK(false);
}

static bool runs(const struct rd_lease *lease) {
  return lease->expiry.function != NULL;
}

static void check_lease(bool is_served, int64_t at_first_ms) {
  int guard[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, guard) == 0);
  struct rd_agent agent = {.loop = rd_loop_create(), .guard_fd = guard[0]};
  struct rd_lease lease;
  if (is_served) agent.served.directory_fd = guard[1];
  rd_lease_start(&lease, &agent, never, NULL);
  CHECK(runs(&lease) && lease.lease_ms == at_first_ms);
  lease.expiry.due_ms = 0; // a renewed lease is due later
  rd_lease_renew(&lease);
  CHECK((lease.expiry.due_ms == 0) == is_served);
  agent.suspended = true;
  rd_lease_suspend(&lease);
  CHECK(runs(&lease) == is_served);
  agent.suspended = false;
  rd_lease_renew(&lease);
  CHECK(runs(&lease) && (lease.expiry.due_ms == 0) == is_served);
  rd_lease_set(&lease, 1000); // the first segment has come
  CHECK(runs(&lease) && lease.expiry.due_ms > 0 && lease.lease_ms == 1000);
  rd_lease_suspend(&lease);
  CHECK(!runs(&lease));
  rd_lease_renew(&lease);
  CHECK(runs(&lease));
  rd_lease_stop(&lease);
  rd_loop_destroy(agent.loop);
  for (int i = 0; i < 2; i++) close(guard[i]);
}

int main(void) {
  check_lease(false, RD_LEASE_AT_FIRST_MS);
  check_lease(true, RD_LEASE_SERVED_AT_FIRST_MS);
  return test_end("lease");
}
