// SPDX-License-Identifier: Apache-2.0
// The agent's first line, with the facts of its host (docs/protocol.md, section 2).
#ifndef RD_STAGE_HELLO_H
#define RD_STAGE_HELLO_H

#include <sys/types.h>

// "rdstage/1 NONCE {…}", without a newline. `agent`: the pid that the session started. Where there is RDMA it runs a
// program: see rdma_check.h. The caller frees it.
char *rd_hello_line(const char *nonce, pid_t agent, int null_fd);
// The line in its place when the programs here are not those that rdpipe copied. The caller frees it.
char *rd_hello_damaged_line(const char *nonce);

#endif
