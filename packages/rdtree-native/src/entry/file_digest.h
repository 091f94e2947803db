// SPDX-License-Identifier: Apache-2.0
// Digests of files, read through a small buffer.
#ifndef RD_TREE_FILE_DIGEST_H
#define RD_TREE_FILE_DIGEST_H

#include "stream/record.h"

// Computes the XXH3-128 of `bytes` bytes from `offset`, or of all that follow if `bytes` is UINT64_MAX. Returns false,
// with errno, if they cannot be read; errno is 0 if there are fewer.
bool rd_file_digest(int fd, uint64_t offset, uint64_t bytes, unsigned char digest[RD_DIGEST_TREE_BYTES]);

// Opens a regular file for reading. Does not follow a symbolic link, nor wait for a fifo. Returns -1 with errno, which
// is ESTALE if it is not a regular file.
int rd_file_open(int directory_fd, const char *name);

#endif
