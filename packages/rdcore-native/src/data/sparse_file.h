// SPDX-License-Identifier: Apache-2.0
// Writes a new file, in order, and leaves holes where long runs of zeros belong: what takes no room at its source takes
// none here.
#ifndef RD_DATA_SPARSE_FILE_H
#define RD_DATA_SPARSE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rd_sparse_file; // opaque

// Of an empty file that no other process has open; past the page cache where that is possible. The descriptor stays the
// caller's.
struct rd_sparse_file *rd_sparse_file_create(int fd);
void rd_sparse_file_destroy(struct rd_sparse_file *sparse); // NULL-safe

// As write(), but what is no whole block and what may become a hole may be kept for the next time.
ssize_t rd_sparse_file_write(struct rd_sparse_file *sparse, const unsigned char *bytes, size_t count);
// Writes what was kept. False, with errno, where it cannot be written.
bool rd_sparse_file_finish(struct rd_sparse_file *sparse);

// Makes holes of the runs of zeros in what was just written at the end of a file that others may append to as well:
// where it went only its descriptor's offset tells. A file system without holes keeps the zeros.
void rd_sparse_file_punch(int fd, const unsigned char *bytes, size_t count);

#endif
