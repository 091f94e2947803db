// SPDX-License-Identifier: Apache-2.0
// A file that is written next to its target and replaces the target only when complete.
#ifndef RD_SINK_ATOMIC_FILE_H
#define RD_SINK_ATOMIC_FILE_H

#include "base/error.h"
#include "sink/resolved_path.h"

struct rd_atomic_file; // opaque

// Opens a file in the directory of `resolved`, whose target must be a regular file or missing. The new file has no
// name, or a hidden one if the file system does not support that. It gets the metadata of the old file
// (file_metadata.h), or the default mode if there is none; until rd_atomic_file_commit() only its owner may open it.
// `resolved` and `path`, which is for messages, are owned by the caller and must outlive it. Returns NULL on failure
// (RD_CODE_SINK_UNWRITABLE).
struct rd_atomic_file *rd_atomic_file_open(const struct rd_resolved_path *resolved, const char *path,
                                           struct rd_error *error);
void rd_atomic_file_destroy(struct rd_atomic_file *atomic_file); // NULL-safe; removes the file unless it was committed

int rd_atomic_file_fd(const struct rd_atomic_file *atomic_file);
// Writes the file to the disk and renames it to the target.
bool rd_atomic_file_commit(struct rd_atomic_file *atomic_file, struct rd_error *error);

#endif
