// SPDX-License-Identifier: Apache-2.0
#include "sandbox/sandbox.h"

#include "base/rdma_port.h"

#include <unistd.h>

static bool entered, over_rdma;

void rd_sandbox_enter(const struct rd_syscall_profile *profile, const struct rd_landlock_ports *ports) {
  if (!RD_SANDBOX_IS_POSSIBLE) return;
  struct rd_syscall_profile own = *profile;
  // A device that appears later is not used.
  own.rdma = over_rdma = profile->rdma && access(RD_RDMA_DIRECTORY, F_OK) == 0;
  entered = true;
  rd_landlock_restrict_process(!own.kills && own.group <= 0);
  if (ports != NULL) rd_landlock_restrict_ports(ports);
  // A command's source or sink is a pipe that is already open.
  if (own.group > 0) rd_sandbox_close(NULL, -1);
  rd_syscall_filter_install(&own);
}

void rd_sandbox_close(const char *path, int directory_fd) {
  if (!entered) return;
  entered = false;
  rd_landlock_restrict_files(&(struct rd_landlock){.path = path, .directory_fd = directory_fd, .rdma = over_rdma});
}

void rd_sandbox_enter_closed(void) {
  rd_sandbox_enter(&(struct rd_syscall_profile){0}, &(struct rd_landlock_ports){0});
  rd_sandbox_close(NULL, -1);
}
