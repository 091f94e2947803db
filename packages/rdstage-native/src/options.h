// SPDX-License-Identifier: Apache-2.0
// The agent's command line.
#ifndef RD_STAGE_OPTIONS_H
#define RD_STAGE_OPTIONS_H

#include "error.h"

enum options_mode { OPTIONS_AGENT, OPTIONS_LEASH, OPTIONS_VERSION, OPTIONS_HELP };

struct options {
  enum options_mode mode;
  const char *nonce;
  int user_stdin, user_stdout; // -1: not given
  char **command;              // of a leash
};

// Everything points into `argv`. RD_CODE_USAGE when it makes no sense.
bool options_parse(int argc, char **argv, struct options *options, struct rd_error *error);

#endif
