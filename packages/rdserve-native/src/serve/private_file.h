// SPDX-License-Identifier: Apache-2.0
// Reads a file with secrets, which its owner alone may read.
#ifndef RD_SERVE_PRIVATE_FILE_H
#define RD_SERVE_PRIVATE_FILE_H

#include "base/error.h"

#include <stddef.h>

// Its text with a NUL after it; wipe it and free() it. NULL (RD_CODE_USAGE): it cannot be read, is no regular file,
// belongs neither to this user nor to root, may be read or written by others, or is longer than `most`.
char *rd_private_file_read(const char *path, size_t most, size_t *bytes, struct rd_error *error);
void rd_private_file_free(char *text, size_t bytes); // wipes it; NULL-safe

#endif
