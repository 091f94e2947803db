// SPDX-License-Identifier: Apache-2.0
#include "lease.h"

#include "guardian_messages.h"

#define HEARTBEAT_MAX_MS 5000
#define GUARDIAN_GRACE_MS 1000 // rdpipe, which misses us too, says what happened

static void on_expiry(void *context);
static void on_heartbeat(void *context);
static void emit_guardian(const struct lease *lease);
static int64_t heartbeat_ms(const struct lease *lease);

void lease_start(struct lease *lease, struct agent *agent, void (*expired)(void *context), void *context) {
  *lease = (struct lease){.agent = agent, .expired = expired, .context = context};
  lease_set(lease, LEASE_AT_FIRST_MS);
}

void lease_set(struct lease *lease, int64_t lease_ms) {
  lease->lease_ms = lease_ms;
  emit_guardian(lease); // now: it would go by the lease before for as long as that was
  lease_renew(lease);
  loop_timer(lease->agent->loop, &lease->heartbeat, heartbeat_ms(lease), on_heartbeat, lease);
}

void lease_renew(struct lease *lease) {
  if (!lease->agent->suspended) loop_timer(lease->agent->loop, &lease->expiry, lease->lease_ms, on_expiry, lease);
}

void lease_suspend(struct lease *lease) {
  loop_timer_stop(lease->agent->loop, &lease->expiry);
}

void lease_stop(struct lease *lease) {
  loop_timer_stop(lease->agent->loop, &lease->expiry);
  loop_timer_stop(lease->agent->loop, &lease->heartbeat);
}

static void on_expiry(void *context) {
  struct lease *lease = context;
  lease->expired(lease->context);
}

static void on_heartbeat(void *context) {
  struct lease *lease = context;
  control_emit_alive(lease->agent->control);
  emit_guardian(lease);
  loop_timer(lease->agent->loop, &lease->heartbeat, heartbeat_ms(lease), on_heartbeat, lease);
}

static void emit_guardian(const struct lease *lease) {
  struct rd_error ignored; // a guardian that is gone is heard of by its socket
  guardian_alive(lease->agent->guard_fd, (uint32_t)lease->lease_ms + GUARDIAN_GRACE_MS, &ignored);
}

// A little early: it must have arrived by then.
static int64_t heartbeat_ms(const struct lease *lease) {
  int64_t after_ms = lease->lease_ms / 5;
  if (after_ms < 1) after_ms = 1;
  return after_ms < HEARTBEAT_MAX_MS ? after_ms : HEARTBEAT_MAX_MS;
}
