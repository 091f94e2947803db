// SPDX-License-Identifier: Apache-2.0
// Memory that a device may read from and write to on this end's own commands; nobody is ever given a key to it.
#ifndef RD_TRANSPORT_VERBS_MEMORY_H
#define RD_TRANSPORT_VERBS_MEMORY_H

#include "transport/verbs/library.h"

#include <stddef.h>

// For receiving, else only for sending. NULL: RD_CODE_INTERNAL; where it is the limit of locked memory
// RD_CODE_CANNOT_CONNECT, and its value and the line that raises it are named. Free with verbs->ibv_dereg_mr().
struct ibv_mr *rd_verbs_register(const struct rd_verbs_library *verbs, struct ibv_pd *pd, const void *memory,
                                 size_t bytes, bool receives, struct rd_error *error);

// What this process may lock, in bytes, less what connections need beside their buffers; SIZE_MAX: no limit.
size_t rd_verbs_lockable_bytes(void);

#endif
