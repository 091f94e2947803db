// SPDX-License-Identifier: Apache-2.0
#include "base/memlock.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The inode of the machine's initial user namespace, a constant in the kernel.
#define FIRST_USER_NAMESPACE 0xeffffffdu

static bool may_lock_without_limit(void);

int64_t rd_memlock_bytes(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur > INT64_MAX || may_lock_without_limit()) return -1;
  return (int64_t)limit.rlim_cur;
}

// The capability counts only in the initial user namespace.
static bool may_lock_without_limit(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
  struct stat status;
  if (stat("/proc/self/ns/user", &status) || status.st_ino != FIRST_USER_NAMESPACE) return false;
  return !syscall(SYS_capget, &header, data) &&
         (data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK));
}
