// SPDX-License-Identifier: Apache-2.0
// The digest of a file's whole content, by which two files are compared.
#ifndef RD_TREE_CONTENT_DIGEST_H
#define RD_TREE_CONTENT_DIGEST_H

#include "stream/record.h"

// Of a regular file in the directory `fd`; a symbolic link is not followed. False, with errno.
bool rd_content_digest(int fd, const char *name, unsigned char digest[RD_DIGEST_TREE_BYTES]);

#endif
