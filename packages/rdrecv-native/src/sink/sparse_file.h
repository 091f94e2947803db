// SPDX-License-Identifier: Apache-2.0
// Writes a new file in order, with holes instead of long runs of zeros.
#ifndef RD_SINK_SPARSE_FILE_H
#define RD_SINK_SPARSE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rd_sparse_file; // opaque

// `fd`: an empty file that no other process has open; owned by the caller. Uses direct I/O if possible.
struct rd_sparse_file *rd_sparse_file_create(int fd);
void rd_sparse_file_destroy(struct rd_sparse_file *sparse); // NULL-safe

// Like write(), but keeps the bytes of an incomplete block, and zeros that may become a hole, until the next call.
ssize_t rd_sparse_file_write(struct rd_sparse_file *sparse, const unsigned char *bytes, size_t count);
// Writes the kept bytes. Returns false, with errno, if they cannot be written.
bool rd_sparse_file_finish(struct rd_sparse_file *sparse);

// Replaces the runs of zeros among the bytes that were just appended to a file by holes. Other processes may also
// append, so the descriptor's offset locates the bytes. On a file system without holes the zeros remain.
void rd_sparse_file_punch(int fd, const unsigned char *bytes, size_t count);

#endif
