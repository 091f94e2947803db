// SPDX-License-Identifier: Apache-2.0
#include "rdsend.h"

#include "cli/program.h"
#include "send_loop.h"
#include "sender_options.h"
#include "sender_standalone.h"

int rd_send_main(int argc, char **argv) {
  static const struct rd_program program = {
      .command_line = &rd_sender_command_line, .standalone = &rd_sender_standalone_ops, .loop = rd_send_loop};
  return rd_program_main(&program, argc, argv);
}
