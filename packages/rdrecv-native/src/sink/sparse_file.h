// SPDX-License-Identifier: Apache-2.0
// Writes a new file in order, with holes instead of long runs of zeros.
#ifndef RD_SINK_SPARSE_FILE_H
#define RD_SINK_SPARSE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rd_sparse_file; // opaque

// `fd`: an empty file that no other process has open; it stays the caller's. Uses direct I/O where that is possible.
struct rd_sparse_file *rd_sparse_file_create(int fd);
void rd_sparse_file_destroy(struct rd_sparse_file *sparse); // NULL-safe

// As write(), but keeps bytes that fill no whole block, and zeros that may become a hole, until the next call.
ssize_t rd_sparse_file_write(struct rd_sparse_file *sparse, const unsigned char *bytes, size_t count);
// Writes the kept bytes. False, with errno, if they cannot be written.
bool rd_sparse_file_finish(struct rd_sparse_file *sparse);

// Replaces the runs of zeros among the bytes that were just appended to a file by holes. Other processes may append
// too, so the descriptor's offset locates the bytes. A file system without holes keeps the zeros.
void rd_sparse_file_punch(int fd, const unsigned char *bytes, size_t count);

#endif
