// SPDX-License-Identifier: Apache-2.0
// Decodes the agent's messages (docs/protocol/hop-agent.md, section 3) into commands.
#ifndef RD_AGENT_COMMANDS_H
#define RD_AGENT_COMMANDS_H

#include "hop/control.h"

#include <jansson.h>

// Decodes one message and wipes a key in it; for `adopt`, takes ownership of the descriptor. Returns false if the
// message is unknown or malformed, or its descriptor cannot be used.
bool rd_agent_command_decode(json_t *message, struct rd_command *command, struct rd_error *error);

#endif
