// SPDX-License-Identifier: Apache-2.0
// NUMA: binds a thread to the node of a network device.
// The CPUs and the memory of that node are the fastest for the device.
#ifndef RD_BASE_NUMA_H
#define RD_BASE_NUMA_H

#include <sched.h>
#include <stdbool.h>

#define RD_SYS_DIRECTORY "/sys"

struct rd_numa_place {
  int node;
  cpu_set_t processors;
};

// Finds the node of an RDMA device, read from `sys` (RD_SYS_DIRECTORY); for a software device, the node of the network
// card under it. Returns false if there is no node.
bool rd_numa_node_of(const char *sys, const char *device, int *node);

// Chooses the device's node and those of its CPUs that are in `allowed`. Returns false if the machine has one node, the
// device has none, or no CPU of its node is allowed.
bool rd_numa_choose(const char *sys, const char *device, const cpu_set_t *allowed, struct rd_numa_place *place);

// Binds the calling thread, and threads that it creates later, to the CPUs of the device's node, and prefers that node
// for new memory. Other threads and running children do not move. Sets *node. Returns false if rd_numa_choose() finds
// no node or the kernel refuses.
bool rd_numa_go_to(const char *device, int *node);

#endif
