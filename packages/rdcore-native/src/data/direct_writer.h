// SPDX-License-Identifier: Apache-2.0
// Writes a new file past the page cache, in order: for a tenth of the processor time, and at its end nearly all of it
// is on the disk already.
#ifndef RD_DATA_DIRECT_WRITER_H
#define RD_DATA_DIRECT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rd_direct_writer; // opaque

// Of an empty file that nobody else has open. The descriptor stays the caller's. NULL where that is not possible.
struct rd_direct_writer *rd_direct_writer_create(int fd);
void rd_direct_writer_destroy(struct rd_direct_writer *direct); // NULL-safe

// As write(), but what is no whole block may be kept for the next time.
ssize_t rd_direct_writer_write(struct rd_direct_writer *direct, const unsigned char *bytes, size_t count);
// Writes what was kept. False, with errno, where it cannot be written.
bool rd_direct_writer_finish(struct rd_direct_writer *direct);
// After that the descriptor's offset was moved on, over a hole of so many bytes.
void rd_direct_writer_skip(struct rd_direct_writer *direct, off_t bytes);

#endif
