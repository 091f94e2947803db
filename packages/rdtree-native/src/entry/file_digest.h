// SPDX-License-Identifier: Apache-2.0
// Digests of files, read through a small buffer.
#ifndef RD_TREE_FILE_DIGEST_H
#define RD_TREE_FILE_DIGEST_H

#include "stream/record.h"

// XXH3-128 of `bytes` bytes from `offset`; UINT64_MAX: of all. False, with errno: they cannot be read, or there are
// fewer (errno 0).
bool rd_file_digest(int fd, uint64_t offset, uint64_t bytes, unsigned char digest[RD_DIGEST_TREE_BYTES]);

// Opens a regular file for reading, without following a symbolic link and without waiting for a fifo. -1: errno;
// ESTALE: it is no regular file.
int rd_file_open(int directory_fd, const char *name);

#endif
