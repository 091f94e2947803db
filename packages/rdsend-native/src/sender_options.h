// SPDX-License-Identifier: Apache-2.0
// The command line of rdsend.
#ifndef RD_SENDER_OPTIONS_H
#define RD_SENDER_OPTIONS_H

#include "cli/options.h"

extern const struct rd_command_line rd_sender_command_line;

#endif
