// SPDX-License-Identifier: Apache-2.0
// Errors that end an RDMA connection: failed completions and connection events, as messages.
#ifndef RD_TRANSPORT_VERBS_ERROR_H
#define RD_TRANSPORT_VERBS_ERROR_H

#include "transport/verbs/id.h"

// The error of a failed completion of the connection to `peer`.
void rd_verbs_completion_failed(const struct rd_verbs_library *verbs, const struct ibv_wc *completion, const char *peer,
                                struct rd_error *error);

// False: the connection goes on.
bool rd_verbs_event_ends(const struct rd_verbs_event *event, const char *peer, struct rd_error *error);

#endif
