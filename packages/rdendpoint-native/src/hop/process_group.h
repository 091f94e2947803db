// SPDX-License-Identifier: Apache-2.0
// The process group that reads rdrecv's output.
// It is killed before it can read a truncated stream to its end.
#ifndef RD_HOP_PROCESS_GROUP_H
#define RD_HOP_PROCESS_GROUP_H

#include <stdint.h>
#include <sys/types.h>

struct rd_process_group {
  pid_t pid;  // 0: none
  int pid_fd; // -1: none
};

#define RD_NO_PROCESS_GROUP ((struct rd_process_group){.pid_fd = -1})

// `pid` leads the group, and is alive or not yet reaped. Returns RD_NO_PROCESS_GROUP if there is no such process.
struct rd_process_group rd_process_group_of(pid_t pid);
// Sends SIGKILL to the group, and waits until its leader is dead, at most `most_ms`. Once the leader was reaped, its
// pid may belong to another process: the group is then killed only if the kernel can find it by the descriptor (Linux
// 6.9).
void rd_process_group_kill(const struct rd_process_group *reader, int most_ms);
void rd_process_group_forget(struct rd_process_group *reader);

#endif
