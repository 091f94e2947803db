// SPDX-License-Identifier: Apache-2.0
// The command line of rdrecv without --serve.
#ifndef RD_RECEIVER_OPTIONS_H
#define RD_RECEIVER_OPTIONS_H

#include "cli/options.h"

extern const struct rd_command_line rd_receiver_command_line;

#endif
