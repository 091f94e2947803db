// SPDX-License-Identifier: Apache-2.0
// The common main function of rdsend and rdrecv.
#ifndef RD_CLI_PROGRAM_H
#define RD_CLI_PROGRAM_H

#include "cli/standalone.h"

// The parts of one end.
struct rd_program {
  const struct rd_command_line *command_line;
  const struct rd_standalone_ops *standalone;
  enum rd_code (*loop)(struct rd_control *control);
  // Fills in `key_text` where no KEY was given. False: with an error. NULL: KEY is needed.
  bool (*make_key)(struct rd_options *options, struct rd_error *error);
};

// Returns the exit status, or does not return if the program ends by a signal. Prints what it has to say.
int rd_program_main(const struct rd_program *program, int argc, char **argv);

#endif
