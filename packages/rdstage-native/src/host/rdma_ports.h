// SPDX-License-Identifier: Apache-2.0
// The RDMA ports of this host.
#ifndef RD_STAGE_RDMA_PORTS_H
#define RD_STAGE_RDMA_PORTS_H

#include <jansson.h>
#include <stdbool.h>

// `rdma` of the hello (docs/protocol/agent.md, section 2): at most 64 entries, the active ones first. `sys`: the mount
// point of sysfs. The caller owns the reference.
json_t *rd_rdma_ports_json(const char *sys);

// Returns true if a port in the list that rd_rdma_ports_json() returned is active.
bool rd_rdma_ports_any_active(const json_t *ports);

#endif
