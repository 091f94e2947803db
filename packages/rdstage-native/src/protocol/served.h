// SPDX-License-Identifier: Apache-2.0
// The limits of a session of `rdrecv --serve`: it may only copy below one directory.
#ifndef RD_STAGE_SERVED_H
#define RD_STAGE_SERVED_H

#include "base/tree_role.h"
#include "protocol/prepare.h"

struct rd_served {
  int directory_fd; // 0: not such a session, and everything is allowed
  enum rd_rights rights;
  uint16_t low_port, high_port; // on which ends of hops may listen; 0: any
};

// Returns true in a session of `rdrecv --serve`.
bool rd_served_is(const struct rd_served *served);
// Parses "A-B".
bool rd_served_take_ports(struct rd_served *served, const char *text);

// Returns false (RD_CODE_USAGE) if a stage is not a program of a copy or needs a right that the client lacks, or if
// there is more than a copy needs. Puts the session's ports and a memory limit into the settings of its hops.
bool rd_served_allows(const struct rd_served *served, struct rd_prepare_spec *prepare, struct rd_error *error);
// `request`: a listen, dial or show request; NULL: another one. Returns false if it names a local socket.
bool rd_served_allows_connection(const struct rd_served *served, const json_t *request, struct rd_error *error);

#endif
