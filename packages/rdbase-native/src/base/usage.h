// SPDX-License-Identifier: Apache-2.0
// CPU time and memory that a process has used.
#ifndef RD_BASE_USAGE_H
#define RD_BASE_USAGE_H

#include <stdint.h>
#include <sys/resource.h>

struct rd_usage {
  int64_t user_ms, system_ms, max_rss_kib;
};

// Converts a result of getrusage() or wait4().
struct rd_usage rd_usage_of(const struct rusage *measured);
struct rd_usage rd_usage_so_far(void); // of this process

#endif
