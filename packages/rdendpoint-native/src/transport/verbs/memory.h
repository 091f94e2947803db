// SPDX-License-Identifier: Apache-2.0
// Registered memory, which the device accesses only for this end's own requests.
// No remote key is ever sent.
#ifndef RD_TRANSPORT_VERBS_MEMORY_H
#define RD_TRANSPORT_VERBS_MEMORY_H

#include "transport/verbs/library.h"

#include <stddef.h>

// Registers memory, for receiving if `receives`, otherwise for sending. Returns NULL on failure: RD_CODE_INTERNAL, or
// RD_CODE_CANNOT_CONNECT if the memlock limit is too small; the message then has its value and the line that raises it.
// Free with verbs->ibv_dereg_mr().
struct ibv_mr *rd_verbs_register(const struct rd_verbs_library *verbs, struct ibv_pd *pd, const void *memory,
                                 size_t bytes, bool receives, struct rd_error *error);

// Returns how many bytes this process may lock, minus what connections need besides their buffers; SIZE_MAX: no limit.
size_t rd_verbs_lockable_bytes(void);

#endif
