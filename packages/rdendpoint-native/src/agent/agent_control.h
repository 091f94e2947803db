// SPDX-License-Identifier: Apache-2.0
// Control by an agent over an inherited socket (docs/protocol/hop-agent.md, section 3).
#ifndef RD_AGENT_AGENT_CONTROL_H
#define RD_AGENT_AGENT_CONTROL_H

#include "hop/control.h"

// Takes ownership of the socket, even on failure. `stdio_fd`: the descriptor that `ready` refers to, 0 or 1. NULL on
// failure.
struct rd_control *rd_agent_control_create(int fd, int stdio_fd, struct rd_error *error);
void rd_agent_control_destroy(struct rd_control *control); // accepts NULL

#endif
