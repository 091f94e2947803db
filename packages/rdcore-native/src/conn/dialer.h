// SPDX-License-Identifier: Apache-2.0
// Addresses under dialing, all at once: each is tried until something comes of it, it is refused, or the time is over.
// After a connection broke one address is tried again and again.
// What comes of it is a connection that nobody has authenticated yet. Nothing here blocks.
#ifndef RD_CONN_DIALER_H
#define RD_CONN_DIALER_H

#include "transport/transport.h"

#include <poll.h>

#define RD_DIALER_MOST 32u       // addresses dialed at once
#define RD_DIALER_EXTRA_TRIES 3u // see rd_dialer_try_once_more()

struct rd_dialer_config {
  int64_t timeout_ms; // from the last addresses on, for all
  bool retry_refused; // go on until the timeout while nobody listens
  // TCP waits until RDMA was refused, and goes on beside it, or for a quarter of the timeout.
  bool rdma_first;
  bool poll; // see transport.h
};

struct rd_attempt {
  struct rd_address address;
  struct rd_connector *connector; // NULL: it waits, or is over
  int64_t try_at_ms;              // 0: it does not wait
  int64_t begun_at_ms;
  unsigned extra_tries; // tries by rd_dialer_try_once_more()
};

// All zeros but the config: nothing is dialed.
struct rd_dialer {
  struct rd_dialer_config config;
  struct rd_attempt each[RD_DIALER_MOST];
  size_t count;
  int64_t until_ms;
  bool redials;            // see rd_dialer_redial()
  int64_t attempt_ms;      // then: how long the attempt under way may take
  struct rd_error failure; // the reasons of all that failed
};

// Dials them beside those under way; one that could not even begin counts as one that failed. False: too many, or
// none.
bool rd_dialer_add(struct rd_dialer *dialer, const struct rd_address *addresses, size_t count, struct rd_error *error);
// Gives all else up and dials this one, until it is refused or given up; whatever else fails is tried again.
void rd_dialer_redial(struct rd_dialer *dialer, const struct rd_address *address);
// What came of the last try was nothing: tries again.
void rd_dialer_retry(struct rd_dialer *dialer);
// The connection to this address came to nothing before the other side said who it is, as it may amid a crowd: tries a
// few times more. False: that was enough.
bool rd_dialer_try_once_more(struct rd_dialer *dialer, const struct rd_address *address);
// Goes on. True: there is a connection in *transport, the caller's, to *address; ask again.
bool rd_dialer_next(struct rd_dialer *dialer, struct rd_transport **transport, const struct rd_address **address);
// RDMA came to nothing: TCP need not wait for it now.
void rd_dialer_start_tcp(struct rd_dialer *dialer);
// Something may still come of one.
bool rd_dialer_under_way(const struct rd_dialer *dialer);
// Adds to the reasons of what failed.
void rd_dialer_add_failure(struct rd_dialer *dialer, const struct rd_error *error);
// Gives all up. The reasons stay.
void rd_dialer_clear(struct rd_dialer *dialer);

// What to poll, at most RD_DIALER_MOST; returns how many were filled in.
size_t rd_dialer_polls(const struct rd_dialer *dialer, struct pollfd *polls);
// When it goes on without an event, on the clock of rd_now_ms(); INT64_MAX: never.
int64_t rd_dialer_due_ms(const struct rd_dialer *dialer);

#endif
