// SPDX-License-Identifier: Apache-2.0
// The source of a stream: a descriptor or a file.
#ifndef RD_SOURCE_SOURCE_H
#define RD_SOURCE_SOURCE_H

#include "base/error.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rd_source; // opaque

// Returns a source for a descriptor that the caller keeps. Never NULL.
struct rd_source *rd_source_from_fd(int fd);
// Opens a file; a fifo is opened by the first rd_source_read(), because that waits for a writer.
struct rd_source *rd_source_open(const char *path, struct rd_error *error);
void rd_source_destroy(struct rd_source *source); // NULL-safe; closes a file that it opened

// Returns the number of bytes left if the source is a regular file, otherwise -1.
int64_t rd_source_size(const struct rd_source *source);

// Returns a descriptor to poll if the source can be read without blocking (a pipe), otherwise -1.
int rd_source_poll_fd(const struct rd_source *source);

// Reads once; blocks if there is nothing yet. Returns the number of bytes, 0 at end of file, -1 on failure
// (RD_CODE_SOURCE_UNREADABLE) and if it was interrupted while *stop is true (RD_CODE_ABORTED).
ssize_t rd_source_read(struct rd_source *source, void *bytes, size_t most, const atomic_bool *stop,
                       struct rd_error *error);
// Reads without blocking from a source that has a descriptor to poll. Returns -1 with RD_CODE_OK if nothing is
// available.
ssize_t rd_source_read_now(struct rd_source *source, void *bytes, size_t most, struct rd_error *error);

#endif
