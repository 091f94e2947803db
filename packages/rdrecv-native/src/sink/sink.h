// SPDX-License-Identifier: Apache-2.0
// The sink of a stream: a descriptor, or a file that changes only when the stream is complete.
#ifndef RD_SINK_SINK_H
#define RD_SINK_SINK_H

#include "base/error.h"
#include "ring/shared_ring.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rd_sink; // opaque

// Returns a sink for a descriptor that the caller keeps. Its offset is never moved. Never NULL.
struct rd_sink *rd_sink_from_fd(int fd);
// Returns a sink for a program that shares a ring: the bytes go through the ring, and the end of the stream through its
// pipe `fd`. Takes ownership of `shared`; the pipe remains the caller's. NULL on failure.
struct rd_sink *rd_sink_from_ring(int fd, struct rd_shared_ring *shared, struct rd_error *error);
// Opens a file. A regular file is replaced when the stream is complete and keeps its metadata (links: resolved_path.h,
// metadata: file_metadata.h); with `append` it is written in place. Devices and fifos are written in place; a fifo is
// opened by the first rd_sink_write(), because that waits for a reader.
struct rd_sink *rd_sink_open(const char *path, bool append, struct rd_error *error);
// NULL-safe. Unless the sink was committed, removes the new file, or truncates an appended one to its old length.
void rd_sink_destroy(struct rd_sink *sink);

// Writes all bytes; may block. Returns false on failure: RD_CODE_CLOSED if the reader is gone, RD_CODE_SINK_UNWRITABLE,
// or RD_CODE_ABORTED if it was interrupted while *stop is true.
bool rd_sink_write(struct rd_sink *sink, const unsigned char *bytes, size_t count, const atomic_bool *stop,
                   struct rd_error *error);
// Returns true if the sink can be written without blocking: a pipe, or /dev/null. (SIGPIPE must be ignored.)
bool rd_sink_never_blocks(const struct rd_sink *sink);
// Writes as much as possible without blocking to such a sink. Returns the number of bytes; 0: none now, poll
// rd_sink_watch_fd() for POLLOUT; -1: failed, with the codes of rd_sink_write().
ssize_t rd_sink_write_now(struct rd_sink *sink, const unsigned char *bytes, size_t count, struct rd_error *error);
// Call after the last write: writes a file to the disk and, if it replaces another, renames it. Blocks.
bool rd_sink_commit(struct rd_sink *sink, struct rd_error *error);

// Returns the directory in which commit or destroy renames or removes a file; owned by the sink, only for *at() calls.
// -1: none.
int rd_sink_directory_fd(const struct rd_sink *sink);

// Returns a descriptor on which POLLERR and POLLHUP mean that the reader is gone; -1: none.
int rd_sink_watch_fd(const struct rd_sink *sink);

#endif
