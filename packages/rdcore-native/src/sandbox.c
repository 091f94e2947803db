// SPDX-License-Identifier: Apache-2.0
#include "sandbox.h"

#include "rdma_port.h"
#include "syscall_filter.h"

#include <unistd.h>

static bool entered, over_rdma;

void rd_sandbox_enter(const struct rd_options *options, pid_t command) {
  if (!RD_SANDBOX_IS_POSSIBLE) return;
  bool by_agent = options->mode == RD_MODE_AGENT;
  bool kills = by_agent && options->role == RD_ROLE_RECEIVER;
  // Where there is no device now, none is used later.
  over_rdma = (by_agent || options->transport != RD_TRANSPORT_TCP) && access(RD_RDMA_FOLDER, F_OK) == 0;
  entered = true;
  rd_landlock_raise(!kills && command <= 0);
  // A command's input or output is a pipe that is there.
  if (command > 0) rd_sandbox_close(NULL, -1);
  rd_syscall_filter_install(&(struct rd_syscall_profile){.rdma = over_rdma, .kills = kills, .group = command});
}

void rd_sandbox_close(const char *path, int directory_fd) {
  if (!entered) return;
  entered = false;
  rd_landlock_close(&(struct rd_landlock){.path = path, .directory_fd = directory_fd, .rdma = over_rdma});
}
