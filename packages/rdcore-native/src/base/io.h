// SPDX-License-Identifier: Apache-2.0
// System calls that carry on where an interruption or a descriptor that somebody else made non-blocking would stop
// them. They fail as the calls themselves do: -1 or false, and errno.
#ifndef RD_BASE_IO_H
#define RD_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RD_PIPE_BYTES (1 << 20)

// read() and write(), again after EINTR. EAGAIN is the caller's: it may have more than one thing to wait for.
ssize_t rd_read_some(int fd, void *bytes, size_t count);
ssize_t rd_write_some(int fd, const void *bytes, size_t count);

// The same pipe by a file description of our own that does not wait, opened with `access` (O_RDONLY, O_WRONLY): whoever
// shares `fd` goes on waiting. -1: `fd` is no pipe, nobody is at its other end, or the system refuses.
int rd_pipe_reopen(int fd, int access);

// Writes all of it, and waits (without a time limit) where the descriptor is non-blocking and full.
bool rd_write_all(int fd, const void *bytes, size_t count);

// Returns when everything written to the file is on the disk; false, with errno, where it is not or may not be.
bool rd_make_permanent(int fd);

// Waits for `events` on one descriptor: 1 ready (or in error, or hung up), 0 after `timeout_ms` (-1: no limit).
// Interruptions do not make the waiting longer.
int rd_wait_fd(int fd, short events, int timeout_ms);

// A clock that nobody sets.
int64_t rd_now_ms(void);
int64_t rd_now_ns(void);

#define RD_NS_A_MS INT64_C(1000000)
#define RD_NS_A_SECOND INT64_C(1000000000)
// For poll(): less than 0 is for ever, and stays.
int64_t rd_ns_of_ms(int ms);

// Asks for a pipe of RD_PIPE_BYTES. Not a pipe, or refused: it stays as it is.
void rd_pipe_grow(int fd);

// Only for descriptors of our own: an inherited one is shared with other processes.
bool rd_set_nonblocking(int fd);

#endif
