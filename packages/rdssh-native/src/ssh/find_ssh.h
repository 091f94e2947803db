// SPDX-License-Identifier: Apache-2.0
// Finds the system's ssh in PATH, which is not rdssh under the name of ssh.
#ifndef RD_SSH_FIND_SSH_H
#define RD_SSH_FIND_SSH_H

#include <stddef.h>

// `rdpipe` is the path of bin/rdpipe: a program in its directory is passed over, for it would call itself without end.
// Returns `path`, or NULL: there is none.
const char *rd_find_ssh(const char *rdpipe, char *path, size_t path_bytes);

#endif
