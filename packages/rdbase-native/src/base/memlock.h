// SPDX-License-Identifier: Apache-2.0
// How much memory this process may lock, which limits the buffers registered with RDMA devices.
#ifndef RD_BASE_MEMLOCK_H
#define RD_BASE_MEMLOCK_H

#include <stdint.h>

// Bytes; -1: no limit.
int64_t rd_memlock_bytes(void);

#endif
