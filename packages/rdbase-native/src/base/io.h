// SPDX-License-Identifier: Apache-2.0
// System calls that are repeated after EINTR; pipes, waiting, and the monotonic clock.
// They also work on descriptors that another process made non-blocking. They fail as the system calls do: with -1 or
// false, and errno.
#ifndef RD_BASE_IO_H
#define RD_BASE_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RD_PIPE_BYTES (1 << 20)

// read() and write(), repeated after EINTR. EAGAIN is returned to the caller, which may wait for several descriptors.
ssize_t rd_read_some(int fd, void *bytes, size_t count);
ssize_t rd_write_some(int fd, const void *bytes, size_t count);

// Opens the pipe `fd` again with `access` (O_RDONLY, O_WRONLY) as a non-blocking file description of this process;
// processes that share `fd` still block. Returns -1 if `fd` is not a pipe, its other end is closed, or the system
// refuses.
int rd_pipe_reopen(int fd, int access);

// Writes all bytes; waits, without a time limit, while a non-blocking descriptor is full.
bool rd_write_all(int fd, const void *bytes, size_t count);

// Returns true once everything written to the file is on disk. Returns false, with errno, if it is not or may not be.
bool rd_make_permanent(int fd);

// Waits for `events` on one descriptor. Returns 1 if it is ready (or has an error, or is hung up), 0 after `timeout_ms`
// (-1: no limit). Interruptions do not extend the timeout.
int rd_wait_fd(int fd, short events, int timeout_ms);

// The monotonic clock.
int64_t rd_now_ms(void);
int64_t rd_now_ns(void);

#define RD_NS_A_MS INT64_C(1000000)
#define RD_NS_A_SECOND INT64_C(1000000000)
// Converts a timeout of poll() to nanoseconds: any negative one (no limit) becomes -1.
int64_t rd_ns_of_ms(int ms);

// Asks the kernel to enlarge a pipe to RD_PIPE_BYTES. Does nothing if `fd` is not a pipe or the kernel refuses.
void rd_pipe_grow(int fd);

// Do not use on inherited descriptors: other processes share their flags.
bool rd_set_nonblocking(int fd);

#endif
