// SPDX-License-Identifier: Apache-2.0
// Reads a file with secrets, which only its owner may read.
#ifndef RD_SERVE_PRIVATE_FILE_H
#define RD_SERVE_PRIVATE_FILE_H

#include "base/error.h"

#include <stddef.h>

// Returns the text with a NUL after it; free it with rd_private_file_free(). Returns NULL (RD_CODE_USAGE) if the file
// cannot be read, is not a regular file, belongs neither to this user nor to root, may be read or written by others, or
// is longer than `most`.
char *rd_private_file_read(const char *path, size_t most, size_t *bytes, struct rd_error *error);
void rd_private_file_free(char *text, size_t bytes); // wipes it; NULL-safe

#endif
