// SPDX-License-Identifier: Apache-2.0
// Runs of zeros in what is to be written to a file: where a hole may stand in their place.
#ifndef RD_DATA_ZEROS_H
#define RD_DATA_ZEROS_H

#include <stddef.h>
#include <sys/types.h>

// A shorter run is written. Of 4 to 64 KiB the size of a new file system's image was the same within 24 KiB, and each
// hole is one more write, and one more extent.
#define RD_HOLE_LEAST_BYTES (64u << 10)
#define RD_BLOCK_BYTES 4096u // of most file systems

// How many of these bytes, which belong at `offset` of the file, come before the first that is not zero: in whole
// blocks, and what of a block is at either end.
size_t rd_zeros_at(off_t offset, const unsigned char *bytes, size_t count);
// How many come before the next run that is long enough for a hole, or that may go on after the last byte.
size_t rd_data_at(off_t offset, const unsigned char *bytes, size_t count);

#endif
