// SPDX-License-Identifier: Apache-2.0
#include "run/lease.h"

#include "run/guardian_messages.h"

#define HEARTBEAT_MAX_MS 5000
#define GUARDIAN_GRACE_MS 1000 // time for rdpipe to report first that the lease has ended; it ended there as well

static void on_expiry(void *context);
static void on_heartbeat(void *context);
static void emit_guardian(const struct rd_lease *lease);
static int64_t heartbeat_ms(const struct rd_lease *lease);

void rd_lease_start(struct rd_lease *lease, struct rd_agent *agent, void (*expired)(void *context), void *context) {
  bool is_served = rd_served_is(&agent->served);
  *lease = (struct rd_lease){.agent = agent, .expired = expired, .context = context};
  rd_lease_set(lease, is_served ? RD_LEASE_SERVED_AT_FIRST_MS : RD_LEASE_AT_FIRST_MS);
  lease->is_fixed = is_served;
}

void rd_lease_set(struct rd_lease *lease, int64_t lease_ms) {
  lease->lease_ms = lease_ms;
  lease->is_fixed = false;
  emit_guardian(lease); // now: otherwise the guardian would keep waiting for the previous lease
  rd_lease_renew(lease);
  rd_loop_timer(lease->agent->loop, &lease->heartbeat, heartbeat_ms(lease), on_heartbeat, lease);
}

void rd_lease_renew(struct rd_lease *lease) {
  if (lease->agent->suspended || lease->is_fixed) return;
  rd_loop_timer(lease->agent->loop, &lease->expiry, lease->lease_ms, on_expiry, lease);
}

void rd_lease_suspend(struct rd_lease *lease) {
  if (lease->is_fixed) return;
  rd_loop_timer_stop(lease->agent->loop, &lease->expiry);
}

void rd_lease_stop(struct rd_lease *lease) {
  rd_loop_timer_stop(lease->agent->loop, &lease->expiry);
  rd_loop_timer_stop(lease->agent->loop, &lease->heartbeat);
}

static void on_expiry(void *context) {
  struct rd_lease *lease = context;
  lease->expired(lease->context);
}

static void on_heartbeat(void *context) {
  struct rd_lease *lease = context;
  rd_control_line_emit_alive(lease->agent->control);
  emit_guardian(lease);
  rd_loop_timer(lease->agent->loop, &lease->heartbeat, heartbeat_ms(lease), on_heartbeat, lease);
}

static void emit_guardian(const struct rd_lease *lease) {
  struct rd_error ignored; // the loop learns from the socket that the guardian is gone
  rd_guardian_alive(lease->agent->guard_fd, (uint32_t)lease->lease_ms + GUARDIAN_GRACE_MS, &ignored);
}

// Returns less than a quarter of the lease: the heartbeat must have arrived by then.
static int64_t heartbeat_ms(const struct rd_lease *lease) {
  int64_t after_ms = lease->lease_ms / 5;
  if (after_ms < 1) after_ms = 1;
  return after_ms < HEARTBEAT_MAX_MS ? after_ms : HEARTBEAT_MAX_MS;
}
