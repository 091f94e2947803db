// SPDX-License-Identifier: Apache-2.0
// ssh's -f: the process that was started ends when all listen, and one that it made goes on.
#ifndef RD_FORWARD_BACKGROUND_H
#define RD_FORWARD_BACKGROUND_H

#include "base/error.h"

#include <stdbool.h>

// Makes the process that goes on, in which it returns: *ready_fd is for rd_background_detach(). The first process exits
// with 0 then, or with the status of the other when that ends before. False (RD_CODE_INTERNAL).
bool rd_background_begin(int *ready_fd, struct rd_error *error);
// Leaves the terminal and the caller's input and output.
void rd_background_detach(int *ready_fd);

#endif
