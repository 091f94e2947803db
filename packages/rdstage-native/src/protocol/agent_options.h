// SPDX-License-Identifier: Apache-2.0
// The agent's command line.
#ifndef RD_STAGE_AGENT_OPTIONS_H
#define RD_STAGE_AGENT_OPTIONS_H

#include "base/error.h"
#include "process/die_after_parent.h"
#include "process/stage_limits.h"
#include "protocol/served.h"

enum rd_agent_options_mode {
  RD_OPTIONS_AGENT,
  RD_OPTIONS_DIE_WITH_PARENT,
  RD_OPTIONS_DIE_AFTER_PARENT,
  RD_OPTIONS_OFFER,
  RD_OPTIONS_VERSION,
  RD_OPTIONS_HELP
};

struct rd_agent_options {
  enum rd_agent_options_mode mode;
  const char *nonce;
  const char *sums;            // of the programs in the same directory (program_sums.h); NULL: not given
  int user_stdin, user_stdout; // -1: not given
  struct rd_stage_limits limits;
  struct rd_served served;
  struct rd_die_after_parent die_after_parent;
  char **command; // for RD_OPTIONS_DIE_WITH_PARENT and RD_OPTIONS_DIE_AFTER_PARENT; the programs of RD_OPTIONS_OFFER
};

// All strings point into `argv`. Returns false (RD_CODE_USAGE) if an option is unknown, missing or invalid.
bool rd_agent_options_parse(int argc, char **argv, struct rd_agent_options *options, struct rd_error *error);

#endif
