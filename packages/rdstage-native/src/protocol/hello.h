// SPDX-License-Identifier: Apache-2.0
// The agent's first line, with the facts of its host (docs/protocol/agent.md, section 2).
#ifndef RD_STAGE_HELLO_H
#define RD_STAGE_HELLO_H

#include <sys/types.h>

// Returns "rdstage/1 NONCE {…}", without a newline; the caller frees it. `agent`: the pid that the session started. On
// a host with RDMA this runs a program: see rdma_check.h.
char *rd_hello_line(const char *nonce, pid_t agent, int null_fd);
// Returns the line that is sent instead if the programs here are not the ones that rdpipe copied; the caller frees it.
char *rd_hello_damaged_line(const char *nonce);

#endif
