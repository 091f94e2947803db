// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/memory.h"

#include "base/memlock.h"
#include "wire/window.h"

#include <errno.h>
#include <stdint.h>

// Memory kept for queues, small buffers and unauthenticated connections.
#define ASIDE_MIN_BYTES (256u << 10)
#define ASIDE_MAX_BYTES (2u << 20)

static void explain(size_t bytes, struct rd_error *error);

struct ibv_mr *rd_verbs_register(const struct rd_verbs_library *verbs, struct ibv_pd *pd, const void *memory,
                                 size_t bytes, bool receives, struct rd_error *error) {
  int access = receives ? IBV_ACCESS_LOCAL_WRITE : 0;
  struct ibv_mr *region = verbs->ibv_reg_mr(pd, (void *)(uintptr_t)memory, bytes, access);
  if (region == NULL) explain(bytes, error);
  return region;
}

size_t rd_verbs_lockable_bytes(void) {
  int64_t limit_bytes = rd_memlock_bytes();
  if (limit_bytes < 0) return SIZE_MAX;
  size_t limit = (size_t)limit_bytes;
  size_t aside = limit / 4 < ASIDE_MAX_BYTES ? limit / 4 : ASIDE_MAX_BYTES;
  if (aside < ASIDE_MIN_BYTES) aside = ASIDE_MIN_BYTES;
  return limit > aside ? limit - aside : 0;
}

static void explain(size_t bytes, struct rd_error *error) {
  if (errno == ENOMEM && rd_memlock_bytes() >= 0)
    rd_window_too_small(error);
  else
    rd_error_set_errno(error, RD_CODE_INTERNAL, "the RDMA device cannot use %zu KiB of memory", bytes >> 10);
}
