// SPDX-License-Identifier: Apache-2.0
// What ends an RDMA connection to `peer`, by a message: a completion that failed, or what its id tells.
#ifndef RD_TRANSPORT_VERBS_ERROR_H
#define RD_TRANSPORT_VERBS_ERROR_H

#include "transport/verbs/id.h"

void rd_verbs_completion_failed(const struct rd_verbs_library *verbs, const struct ibv_wc *completion, const char *peer,
                                struct rd_error *error);

// False: it goes on.
bool rd_verbs_event_ends(const struct rd_verbs_event *event, const char *peer, struct rd_error *error);

#endif
