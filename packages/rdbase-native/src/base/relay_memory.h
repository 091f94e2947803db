// SPDX-License-Identifier: Apache-2.0
// The memory that receiver and sender of one host in a chain share.
// The agent makes it, and they map it.
#ifndef RD_BASE_RELAY_MEMORY_H
#define RD_BASE_RELAY_MEMORY_H

#include "base/error.h"

// A descriptor of memory for both, close-on-exec, with its first page; -1 on failure.
int rd_relay_memory_create(struct rd_error *error);

#endif
