// SPDX-License-Identifier: Apache-2.0
// The process group that reads what rdrecv writes. It is killed, while its input is still open, rather than shown a
// truncated stream.
#ifndef RD_CONSUMER_H
#define RD_CONSUMER_H

#include <stdint.h>
#include <sys/types.h>

struct rd_consumer {
  pid_t pid;  // 0: none
  int pid_fd; // -1: none
};

#define RD_NO_CONSUMER ((struct rd_consumer){.pid_fd = -1})

// `pid` leads the group and is alive, or not reaped yet. None where it is neither.
struct rd_consumer rd_consumer_of(pid_t pid);
// SIGKILL to the group, and waits until its leader is dead, for `most_ms` at most. Once the leader was reaped its
// number may be another's: the group is then killed where the kernel knows it by the descriptor (Linux 6.9), else left
// alone.
void rd_consumer_kill(const struct rd_consumer *consumer, int most_ms);
void rd_consumer_forget(struct rd_consumer *consumer);

#endif
