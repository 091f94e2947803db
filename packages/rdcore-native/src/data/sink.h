// SPDX-License-Identifier: Apache-2.0
// Where a stream goes: a descriptor, or a file that shows nothing of the stream until all of it is there.
#ifndef RD_DATA_SINK_H
#define RD_DATA_SINK_H

#include "base/error.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct rd_sink; // opaque

// A descriptor that stays the caller's. Its offset is never moved.
struct rd_sink *rd_sink_from_fd(int fd, struct rd_error *error);
// A file: a regular one is replaced when everything is there, and keeps what belongs to it (resolved_path.h says which
// links are followed, file_metadata.h what is kept); with `append` it is written in place, and cut back by
// rd_sink_abandon(). Devices and fifos are written in place; a fifo is opened by the first rd_sink_write(), because
// that waits for a reader.
struct rd_sink *rd_sink_open(const char *path, bool append, struct rd_error *error);
// NULL-safe. Without rd_sink_commit() before it, it abandons.
void rd_sink_destroy(struct rd_sink *sink);

// Writes all of it; waits where it has to. False: RD_CODE_CLOSED when nobody reads any more, RD_CODE_SINK_UNWRITABLE,
// or RD_CODE_ABORTED when it was interrupted while *stop is true.
bool rd_sink_write(struct rd_sink *sink, const unsigned char *bytes, size_t count, const atomic_bool *stop,
                   struct rd_error *error);
// It can be written to without waiting: a pipe, or /dev/null. (SIGPIPE is to be ignored.)
bool rd_sink_is_prompt(const struct rd_sink *sink);
// Writes what goes without waiting into a prompt one: how much, 0 when nothing goes now (rd_sink_watch_fd() tells by
// POLLOUT when it does), -1 as rd_sink_write() fails.
ssize_t rd_sink_write_now(struct rd_sink *sink, const unsigned char *bytes, size_t count, struct rd_error *error);
// Everything was written: to the disk with it, and in its place. Waits.
bool rd_sink_commit(struct rd_sink *sink, struct rd_error *error);
// As if it had never been opened: removed, or cut back.
void rd_sink_abandon(struct rd_sink *sink);

// Of the directory in which a file is put in its place, or removed again, for *at() calls only; -1: there is none. The
// sink's.
int rd_sink_directory_fd(const struct rd_sink *sink);

// A descriptor of which POLLERR and POLLHUP mean that the reader went away; -1 when there is no such thing.
int rd_sink_watch_fd(const struct rd_sink *sink);

#endif
