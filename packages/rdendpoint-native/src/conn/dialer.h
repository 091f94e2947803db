// SPDX-License-Identifier: Apache-2.0
// The dialer: dials all addresses at once, each until it connects, is refused or times out.
// To reconnect it redials the peer's addresses in turn until they refuse. Its connections are not authenticated.
// Nothing here blocks.
#ifndef RD_CONN_DIALER_H
#define RD_CONN_DIALER_H

#include "transport/transport.h"

#include <poll.h>

#define RD_DIALER_MAX 32u        // addresses dialed at once
#define RD_DIALER_EXTRA_TRIES 3u // see rd_dialer_try_once_more()

struct rd_dialer_config {
  int64_t timeout_ms; // for all addresses, counted from when the last ones were added
  bool retry_refused; // redial refused addresses until the timeout
  // TCP waits until RDMA was refused, at most a quarter of the timeout; then both are dialed.
  bool rdma_first;
  bool poll; // see transport.h
};

struct rd_attempt {
  struct rd_address address;
  struct rd_connector *connector; // NULL: waiting, or finished
  int64_t try_at_ms;              // 0: not waiting
  int64_t begun_at_ms;
  unsigned extra_tries; // number of tries by rd_dialer_try_once_more()
};

// All zeros except the config: nothing is dialed.
struct rd_dialer {
  struct rd_dialer_config config;
  struct rd_attempt each[RD_DIALER_MAX];
  size_t count;
  int64_t until_ms;
  bool redials;            // see rd_dialer_redial()
  size_t turn;             // when redialing: the current attempt
  size_t refused;          // and how many addresses in a row refused
  int64_t attempt_ms;      // when redialing: the time limit of the current attempt
  struct rd_error failure; // the reasons of all attempts that failed
};

// Dials these addresses in addition to the current ones; an attempt that cannot begin counts as failed. Returns false
// if there are too many, or none.
bool rd_dialer_add(struct rd_dialer *dialer, const struct rd_address *addresses, size_t count, struct rd_error *error);
// Drops all other attempts and dials these addresses in turn, at least one, until all of them refuse in a row or the
// dialer is cleared.
void rd_dialer_redial(struct rd_dialer *dialer, const struct rd_address *addresses, size_t count);
// The last connection failed: try again soon.
void rd_dialer_retry(struct rd_dialer *dialer);
// The connection to this address ended before the peer was authenticated, possibly because its listener was full:
// allows a few more tries. Returns false if no tries are left.
bool rd_dialer_try_once_more(struct rd_dialer *dialer, const struct rd_address *address);
// Makes progress without waiting. Returns true with a connection to *address in *transport, which the caller owns; call
// again for the next one.
bool rd_dialer_next(struct rd_dialer *dialer, struct rd_transport **transport, const struct rd_address **address);
// RDMA failed: TCP does not have to wait for it any longer.
void rd_dialer_start_tcp(struct rd_dialer *dialer);
// Returns true if an attempt may still succeed.
bool rd_dialer_under_way(const struct rd_dialer *dialer);
// Adds a reason to those of the failed attempts.
void rd_dialer_add_failure(struct rd_dialer *dialer, const struct rd_error *error);
// Drops all attempts. Keeps the reasons of failures.
void rd_dialer_clear(struct rd_dialer *dialer);

// Fills in the descriptors to poll, at most RD_DIALER_MAX, and returns their number.
size_t rd_dialer_polls(const struct rd_dialer *dialer, struct pollfd *polls);
// When it has to be called without an event, on the clock of rd_now_ms(); INT64_MAX: never.
int64_t rd_dialer_due_ms(const struct rd_dialer *dialer);

#endif
