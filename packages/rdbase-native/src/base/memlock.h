// SPDX-License-Identifier: Apache-2.0
// How much memory this process may lock; limits the buffers that are registered with RDMA devices.
#ifndef RD_BASE_MEMLOCK_H
#define RD_BASE_MEMLOCK_H

#include <stdint.h>

// Returns the limit in bytes; -1 if there is none.
int64_t rd_memlock_bytes(void);

#endif
