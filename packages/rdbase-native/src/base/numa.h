// SPDX-License-Identifier: Apache-2.0
// NUMA: binds a thread to the node of a network device, whose processors and memory are fastest for it.
#ifndef RD_BASE_NUMA_H
#define RD_BASE_NUMA_H

#include <sched.h>
#include <stdbool.h>

#define RD_SYS_DIRECTORY "/sys"

struct rd_numa_place {
  int node;
  cpu_set_t processors;
};

// The node of an RDMA device, read from `sys` (RD_SYS_DIRECTORY); for a software device, the node of the network card
// under it. False: it has none.
bool rd_numa_node_of(const char *sys, const char *device, int *node);

// Chooses the node of the device and those of its processors that are in `allowed`. False: the machine has one node,
// the device has none, or no processor of its node is allowed.
bool rd_numa_choose(const char *sys, const char *device, const cpu_set_t *allowed, struct rd_numa_place *place);

// Binds the calling thread, and the threads that it creates later, to the processors of the device's node, and prefers
// that node for new memory. Other threads and running children do not move. False: there is no choice, or the kernel
// refuses.
bool rd_numa_go_to(const char *device, int *node);

#endif
