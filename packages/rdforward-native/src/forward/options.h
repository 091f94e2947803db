// SPDX-License-Identifier: Apache-2.0
// The command line of rdforward.
#ifndef RD_FORWARD_OPTIONS_H
#define RD_FORWARD_OPTIONS_H

#include "forward/specs.h"

#include <stdbool.h>

struct rd_forward_options {
  bool help, is_far, background;
  bool keep_going;               // without the forwards that cannot listen
  struct rd_specs local, remote; // -L, -R
  char **command;                // of the near end, NULL-terminated: the command that carries the stream
};

// Returns false (RD_CODE_USAGE) if the command line is invalid. Clear the options in any case.
bool rd_forward_options_parse(int argc, char **argv, struct rd_forward_options *options, struct rd_error *error);
void rd_forward_options_clear(struct rd_forward_options *options);

extern const char rd_forward_help[];

#endif
