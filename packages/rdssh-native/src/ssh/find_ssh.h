// SPDX-License-Identifier: Apache-2.0
// Finds the system's ssh in PATH.
#ifndef RD_SSH_FIND_SSH_H
#define RD_SSH_FIND_SSH_H

#include <stddef.h>

// Skips the rdssh of any copy of rdpipe under the name of ssh, because it would call itself endlessly.
// Returns `path`, or NULL if there is no ssh.
const char *rd_find_ssh(char *path, size_t path_bytes);

#endif
