// SPDX-License-Identifier: Apache-2.0
// The process group that reads rdrecv's output; it is killed rather than shown a truncated stream.
#ifndef RD_READER_PROCESS_H
#define RD_READER_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

struct rd_reader_process {
  pid_t pid;  // 0: none
  int pid_fd; // -1: none
};

#define RD_NO_READER_PROCESS ((struct rd_reader_process){.pid_fd = -1})

// `pid` leads the group, and is alive or not reaped yet; else the result is RD_NO_READER_PROCESS.
struct rd_reader_process rd_reader_process_of(pid_t pid);
// Sends SIGKILL to the group, and waits until its leader is dead, for `most_ms` at most. Once the leader was reaped,
// its number may be another process's: the group is then killed only where the kernel finds it by the descriptor
// (Linux 6.9).
void rd_reader_process_kill(const struct rd_reader_process *reader, int most_ms);
void rd_reader_process_forget(struct rd_reader_process *reader);

#endif
