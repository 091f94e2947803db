// SPDX-License-Identifier: Apache-2.0
// Active RDMA ports of this machine, found without opening a library.
#ifndef RD_BASE_RDMA_PORT_H
#define RD_BASE_RDMA_PORT_H

#include <stdbool.h>

#define RD_RDMA_DIRECTORY "/sys/class/infiniband"

// Returns true if a device in `directory` (RD_RDMA_DIRECTORY) has an active port.
bool rd_rdma_port_is_active(const char *directory);

#endif
