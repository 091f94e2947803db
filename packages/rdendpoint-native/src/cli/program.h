// SPDX-License-Identifier: Apache-2.0
// The main function that rdsend and rdrecv share.
#ifndef RD_CLI_PROGRAM_H
#define RD_CLI_PROGRAM_H

#include "cli/standalone.h"

// The parts that differ between the two ends.
struct rd_program {
  const struct rd_command_line *command_line;
  const struct rd_standalone_ops *standalone;
  enum rd_code (*loop)(struct rd_control *control);
  // Fills in `key_text` if no KEY was given. Returns false with an error. NULL: KEY is mandatory.
  bool (*make_key)(struct rd_options *options, struct rd_error *error);
};

// Runs the program, printing its output and errors. Returns the exit status, or does not return if the program dies of
// a signal.
int rd_program_main(const struct rd_program *program, int argc, char **argv);

#endif
