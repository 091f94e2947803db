// SPDX-License-Identifier: Apache-2.0
// The table of an RDMA port's own addresses (GIDs).
#ifndef RD_STAGE_RDMA_GIDS_H
#define RD_STAGE_RDMA_GIDS_H

#include "runtime/name_set.h"

struct rd_rdma_gids {
  struct rd_name_set kinds;      // of those that are set, as the kernel names them: "RoCE v2"
  struct rd_name_set interfaces; // network interfaces whose addresses they were made from
  struct rd_name_set own;        // network interfaces of those that every port has, whatever its addresses
};

// Reads it. `port_folder`: /sys/class/infiniband/DEVICE/ports/N. Empty sets where there is nothing to read.
void rd_rdma_gids_read(const char *port_folder, struct rd_rdma_gids *gids);

#endif
