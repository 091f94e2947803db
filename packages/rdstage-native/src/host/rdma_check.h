// SPDX-License-Identifier: Apache-2.0
// Whether the programs of this host's hops can do RDMA. They open the libraries for it; the agent never does.
#ifndef RD_STAGE_RDMA_CHECK_H
#define RD_STAGE_RDMA_CHECK_H

#include "base/error.h"

#include <stdint.h>

// Asks `program`, an rdrecv, and waits for at most `limit_ms`. False: *why says what is missing. SIGCHLD must be
// blocked, and what this takes of it is lost: call it before anything else is started.
bool rd_rdma_check(const char *program, int null_fd, int64_t limit_ms, struct rd_error *why);

#endif
