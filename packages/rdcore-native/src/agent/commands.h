// SPDX-License-Identifier: Apache-2.0
// The agent's messages (docs/protocol.md, section 3) as commands: the one place where they are decoded.
#ifndef RD_AGENT_COMMANDS_H
#define RD_AGENT_COMMANDS_H

#include "hop/control.h"

#include <jansson.h>

// Decodes one message, and wipes a key in it; for `adopt` it takes the descriptor over. False: it is unknown, malformed
// or cannot be followed.
bool rd_agent_command_decode(json_t *message, struct rd_command *command, struct rd_error *error);

#endif
