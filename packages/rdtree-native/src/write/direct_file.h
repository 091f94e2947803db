// SPDX-License-Identifier: Apache-2.0
// Writes large files past the page cache, as far as file system and alignment allow.
// docs/adr/0010-past-the-page-cache.md has the reasons. One thread at a time may write to a file.
#ifndef RD_TREE_WRITE_DIRECT_FILE_H
#define RD_TREE_WRITE_DIRECT_FILE_H

#include "target/target_file.h"

// The file is open, empty, and written as it arrives.
void rd_direct_file_begin(struct rd_target_file *file);
// Like rd_target_file_write().
bool rd_direct_file_write(struct rd_target_file *file, uint64_t offset, const unsigned char *bytes, size_t count);
// Everything is written: the file may be read, and written in any other way.
void rd_direct_file_end(struct rd_target_file *file);

#endif
