// SPDX-License-Identifier: Apache-2.0
// The resource limits of commands: the user's, or those of the login.
// On the user's machine rdpipe lowers its own soft limit of cores, and node raises that of descriptors; the agent
// raises the descriptor limit on every host.
#ifndef RD_STAGE_STAGE_LIMITS_H
#define RD_STAGE_STAGE_LIMITS_H

#include <stdbool.h>
#include <sys/resource.h>

struct rd_stage_limits {
  bool given; // false: a command inherits the limits of this process
  rlim_t core_bytes, files;
};

// Parses CORES,FILES as `ulimit -Sc` and `ulimit -Sn` of sh print them: blocks of 512 bytes and a number, or
// `unlimited`. Returns false if the text has another form.
bool rd_stage_limits_parse(const char *text, struct rd_stage_limits *limits);

// Stores the limits of this process, unless limits were given.
void rd_stage_limits_keep(struct rd_stage_limits *limits);

// Sets the limits of this process from a struct rd_stage_limits. Hard limits stay; a soft limit above the hard one is
// not set. For struct rd_spawning: safe between fork and exec.
void rd_stage_limits_set(const void *limits);

#endif
