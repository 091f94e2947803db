// SPDX-License-Identifier: Apache-2.0
// ssh's -f: the first process exits when all listeners are open, and its child continues.
#ifndef RD_FORWARD_BACKGROUND_H
#define RD_FORWARD_BACKGROUND_H

#include "base/error.h"

#include <stdbool.h>

// Forks the process that continues and returns in that process: *ready_fd is for rd_background_detach(). The first
// process exits with 0 after the call of that function, or with the status of the other process if that ends earlier.
// Returns false (RD_CODE_INTERNAL) on failure.
bool rd_background_begin(int *ready_fd, struct rd_error *error);
// Detaches from the terminal and from the caller's input and output.
void rd_background_detach(int *ready_fd);

#endif
