// SPDX-License-Identifier: Apache-2.0
// Checks that rdsend and rdrecv can use RDMA here; only these programs open its libraries.
#ifndef RD_STAGE_RDMA_CHECK_H
#define RD_STAGE_RDMA_CHECK_H

#include "base/error.h"

#include <stdint.h>

// Runs `program`, an rdrecv, for at most `limit_ms`. Returns false if something is missing, and *why names it. SIGCHLD
// must be blocked, and this function consumes it: call it before any other child is started.
bool rd_rdma_check(const char *program, int null_fd, int64_t limit_ms, struct rd_error *why);

#endif
