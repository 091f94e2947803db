// SPDX-License-Identifier: Apache-2.0
// Errors that end an RDMA connection: messages for failed completions and connection events.
#ifndef RD_TRANSPORT_VERBS_ERROR_H
#define RD_TRANSPORT_VERBS_ERROR_H

#include "transport/verbs/id.h"

// Sets the error for a failed completion of the connection to `peer`.
void rd_verbs_completion_failed(const struct rd_verbs_library *verbs, const struct ibv_wc *completion, const char *peer,
                                struct rd_error *error);

// Returns true, with an error, if the event ends the connection to `peer`.
bool rd_verbs_event_ends(const struct rd_verbs_event *event, const char *peer, struct rd_error *error);

#endif
