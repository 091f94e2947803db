// SPDX-License-Identifier: Apache-2.0
// Finds the system's ssh in PATH; skips rdssh installed under the name ssh.
#ifndef RD_SSH_FIND_SSH_H
#define RD_SSH_FIND_SSH_H

#include <stddef.h>

// `rdpipe` is the path of bin/rdpipe: a program in its directory is skipped, because it would call itself endlessly.
// Returns `path`, or NULL if there is no ssh.
const char *rd_find_ssh(const char *rdpipe, char *path, size_t path_bytes);

#endif
