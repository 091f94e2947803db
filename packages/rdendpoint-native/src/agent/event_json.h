// SPDX-License-Identifier: Apache-2.0
// Events as JSON objects, for the agent and for scripts (--json).
// See docs/protocol/hop-agent.md, section 3.
#ifndef RD_AGENT_EVENT_JSON_H
#define RD_AGENT_EVENT_JSON_H

#include "hop/control.h"

#include <jansson.h>

// Returns a new reference; NULL if there is no memory.
json_t *rd_event_to_json(const struct rd_event *event);

#endif
