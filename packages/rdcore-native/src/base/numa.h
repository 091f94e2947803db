// SPDX-License-Identifier: Apache-2.0
// Memory and processors of a machine with several nodes: those next to a network device move its data fastest.
#ifndef RD_BASE_NUMA_H
#define RD_BASE_NUMA_H

#include <sched.h>
#include <stdbool.h>

#define RD_SYS_FOLDER "/sys"

struct rd_numa_place {
  int node;
  cpu_set_t processors;
};

// The node of an RDMA device as the kernel shows it in `sys` (RD_SYS_FOLDER): of a device of software that of the card
// that it sends through. False: it has none.
bool rd_numa_node_of(const char *sys, const char *device, int *node);

// Where to be to use the device, of the processors that are allowed. False: it does not matter, or nobody may be there.
bool rd_numa_choose(const char *sys, const char *device, const cpu_set_t *allowed, struct rd_numa_place *place);

// Chooses for the calling thread, and goes there with the threads and memory that it will have; memory comes from
// elsewhere where there is none left. Others, children that run already among them, stay where they are. False: nothing
// to choose, or the kernel would not have it.
bool rd_numa_go_to(const char *device, int *node);

#endif
