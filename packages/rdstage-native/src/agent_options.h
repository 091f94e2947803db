// SPDX-License-Identifier: Apache-2.0
// The agent's command line.
#ifndef RD_STAGE_AGENT_OPTIONS_H
#define RD_STAGE_AGENT_OPTIONS_H

#include "error.h"
#include "stage_limits.h"

enum agent_options_mode { OPTIONS_AGENT, OPTIONS_DIE_WITH_PARENT, OPTIONS_VERSION, OPTIONS_HELP };

struct agent_options {
  enum agent_options_mode mode;
  const char *nonce;
  const char *sums;            // of the programs beside it (program_sums.h); NULL: not given
  int user_stdin, user_stdout; // -1: not given
  struct stage_limits limits;
  char **command; // of a leash
};

// Everything points into `argv`. RD_CODE_USAGE when it makes no sense.
bool agent_options_parse(int argc, char **argv, struct agent_options *options, struct rd_error *error);

#endif
