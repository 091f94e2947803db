// SPDX-License-Identifier: Apache-2.0
// Reads what of a file is not in memory past the page cache: for less than a tenth of the processor time, and without
// pushing out what others keep there.
#ifndef RD_DATA_DIRECT_READER_H
#define RD_DATA_DIRECT_READER_H

#include <stddef.h>
#include <sys/types.h>

struct rd_direct_reader; // opaque

// Of a descriptor that stays the caller's. NULL where that is not possible, or not worth it.
struct rd_direct_reader *rd_direct_reader_open(int fd);
void rd_direct_reader_close(struct rd_direct_reader *cold); // NULL-safe

// As read(), and the descriptor's offset moves on; but 0 says that read() is the better way now, or the one that will
// tell what is wrong.
ssize_t rd_direct_reader_read(struct rd_direct_reader *cold, void *bytes, size_t most);

#endif
