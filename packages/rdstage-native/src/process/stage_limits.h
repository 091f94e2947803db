// SPDX-License-Identifier: Apache-2.0
// The limits that commands on the user's own machine get: rdpipe lowers that of cores for itself, and node raises that
// of descriptors; both are soft limits.
#ifndef RD_STAGE_STAGE_LIMITS_H
#define RD_STAGE_STAGE_LIMITS_H

#include <stdbool.h>
#include <sys/resource.h>

struct rd_stage_limits {
  bool given; // else a command gets ours
  rlim_t core_bytes, files;
};

// CORES,FILES as `ulimit -Sc` and `ulimit -Sn` of sh print them: blocks of 512 bytes and a number, or `unlimited`.
// False: not so.
bool rd_stage_limits_parse(const char *text, struct rd_stage_limits *limits);

// Of this process. No hard limit changes, and what is above one stays as it is. Safe between fork and exec.
void rd_stage_limits_set(const struct rd_stage_limits *limits);

#endif
