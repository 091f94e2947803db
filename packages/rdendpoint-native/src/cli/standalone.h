// SPDX-License-Identifier: Apache-2.0
// Standalone control: commands follow from the command line, the exit of the command, and signals.
#ifndef RD_CLI_STANDALONE_H
#define RD_CLI_STANDALONE_H

#include "cli/options.h"
#include "crypto/key_offer.h"

// The options, `key` and the offer, which is shown when the port is known, must outlive it. NULL on failure.
struct rd_control *rd_standalone_create(const struct rd_options *options, const unsigned char key[RD_KEY_BYTES],
                                        struct rd_key_offer *offer, struct rd_error *error);
void rd_standalone_destroy(struct rd_control *control); // NULL-safe
// The leader of the command's process group; 0: there is no command.
pid_t rd_standalone_command(const struct rd_control *control);

// After the loop: waits for the command and returns the exit status, or dies of the signal that ended the run.
int rd_standalone_end(struct rd_control *control, enum rd_code code);

#endif
