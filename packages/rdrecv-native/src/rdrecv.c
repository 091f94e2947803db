// SPDX-License-Identifier: Apache-2.0
#include "rdrecv.h"

#include "cli/program.h"
#include "key_offer.h"
#include "receiver_options.h"
#include "receiver_standalone.h"
#include "recv_loop.h"

static bool make_key(struct rd_options *options, struct rd_error *error);

int rd_recv_main(int argc, char **argv) {
  static const struct rd_program program = {.command_line = &rd_receiver_command_line,
                                            .standalone = &rd_receiver_standalone_ops,
                                            .loop = rd_recv_loop,
                                            .make_key = make_key};
  return rd_program_main(&program, argc, argv);
}

// The user must first bring the key to the sender, so the listener waits without a limit.
static bool make_key(struct rd_options *options, struct rd_error *error) {
  if (!rd_key_offer_make(options->key_text, error)) return false;
  if (!options->limits_waiting) options->settings.listen_timeout_ms = 0;
  return true;
}
