// SPDX-License-Identifier: Apache-2.0
// A file that is written beside its target and replaces it only when it is complete.
#ifndef RD_SINK_ATOMIC_FILE_H
#define RD_SINK_ATOMIC_FILE_H

#include "base/error.h"
#include "sink/resolved_path.h"

struct rd_atomic_file; // opaque

// Opens a file without a name, or with a hidden one where the file system cannot do that, in the directory of
// `resolved`, where a regular file is or nothing. It gets what belongs to the old file beside its bytes
// (file_metadata.h), and the mode of a new one when there is none; until rd_atomic_file_commit() only its owner may
// open it. `resolved` and `path`, which is for messages, are the caller's and outlive it. NULL on failure
// (RD_CODE_SINK_UNWRITABLE).
struct rd_atomic_file *rd_atomic_file_open(const struct rd_resolved_path *resolved, const char *path,
                                           struct rd_error *error);
void rd_atomic_file_destroy(struct rd_atomic_file *atomic_file); // NULL-safe; removes the file unless it was committed

int rd_atomic_file_fd(const struct rd_atomic_file *atomic_file);
// Writes it to the disk and renames it to the target.
bool rd_atomic_file_commit(struct rd_atomic_file *atomic_file, struct rd_error *error);

#endif
