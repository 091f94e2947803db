// SPDX-License-Identifier: Apache-2.0
// Commanded by a person: what an agent would order follows from the command line, from the producer or consumer that
// is run here, and from signals.
#ifndef RD_CLI_STANDALONE_H
#define RD_CLI_STANDALONE_H

#include "cli/options.h"
#include "crypto/key_offer.h"

// `key`, the options and the offer, which is shown when the port is known, outlive it. NULL on failure.
struct rd_control *rd_standalone_create(const struct rd_options *options, const unsigned char key[RD_KEY_BYTES],
                                        struct rd_key_offer *offer, struct rd_error *error);
void rd_standalone_destroy(struct rd_control *control); // NULL-safe
// Of the process that leads the command's group; 0: there is no command.
pid_t rd_standalone_command(const struct rd_control *control);

// After the loop: waits for the command, and gives the status to exit with; or dies of the signal that the end was.
int rd_standalone_end(struct rd_control *control, enum rd_code code);

#endif
