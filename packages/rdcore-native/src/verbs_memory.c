// SPDX-License-Identifier: Apache-2.0
#include "verbs_memory.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// For queues, small buffers and connectors that are not authenticated yet.
#define ASIDE_LEAST_BYTES (256u << 10)
#define ASIDE_MOST_BYTES (2u << 20)

static size_t limit_bytes(void);
static bool may_lock_anything(void);
static void explain(size_t bytes, struct rd_error *error);

struct ibv_mr *rd_verbs_register(const struct rd_verbs_library *verbs, struct ibv_pd *pd, const void *memory,
                                 size_t bytes, bool receives, struct rd_error *error) {
  int access = receives ? IBV_ACCESS_LOCAL_WRITE : 0;
  struct ibv_mr *region = verbs->ibv_reg_mr(pd, (void *)(uintptr_t)memory, bytes, access);
  if (region == NULL) explain(bytes, error);
  return region;
}

size_t rd_verbs_lockable_bytes(void) {
  size_t limit = limit_bytes();
  if (limit == SIZE_MAX) return SIZE_MAX;
  size_t aside = limit / 4 < ASIDE_MOST_BYTES ? limit / 4 : ASIDE_MOST_BYTES;
  if (aside < ASIDE_LEAST_BYTES) aside = ASIDE_LEAST_BYTES;
  return limit > aside ? limit - aside : 0;
}

static size_t limit_bytes(void) {
  struct rlimit limit;
  if (may_lock_anything() || getrlimit(RLIMIT_MEMLOCK, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return limit.rlim_cur;
}

static bool may_lock_anything(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
  if (syscall(SYS_capget, &header, data) < 0) return false;
  return (data[CAP_TO_INDEX(CAP_IPC_LOCK)].effective & CAP_TO_MASK(CAP_IPC_LOCK)) != 0;
}

static void explain(size_t bytes, struct rd_error *error) {
  int reason = errno;
  size_t limit = limit_bytes();
  if (reason != ENOMEM || limit == SIZE_MAX) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "the rdma device cannot use %zu KiB of memory", bytes >> 10);
    return;
  }
  rd_error_set(error, RD_CODE_INTERNAL,
               "cannot lock %zu KiB of memory for rdma: the limit of locked memory (ulimit -l) is %zu KiB; put "
               "'* - memlock unlimited' into /etc/security/limits.d/rdma.conf and log in again",
               bytes >> 10, limit >> 10);
}
