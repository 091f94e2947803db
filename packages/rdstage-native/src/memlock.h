// SPDX-License-Identifier: Apache-2.0
// How much memory this session may lock, which bounds what RDMA devices can be given.
#ifndef RD_STAGE_MEMLOCK_H
#define RD_STAGE_MEMLOCK_H

#include <stdint.h>

// Bytes; -1: no limit.
int64_t memlock_limit(void);

#endif
