// SPDX-License-Identifier: Apache-2.0
// The memory that the receiver and the sender of one host in a chain share.
// The agent creates it, and both programs map it.
#ifndef RD_BASE_RELAY_MEMORY_H
#define RD_BASE_RELAY_MEMORY_H

#include "base/error.h"

// Returns a close-on-exec descriptor of shared memory, one page long so far; -1 on failure.
int rd_relay_memory_create(struct rd_error *error);

#endif
