// SPDX-License-Identifier: Apache-2.0
// SIGTERM and SIGINT end the input: the copy ends as after a lost stream.
#ifndef RD_TREE_WRITE_STOP_SIGNALS_H
#define RD_TREE_WRITE_STOP_SIGNALS_H

#include <stdbool.h>

// Before other threads are started. When one comes, nothing more can be read from `in_fd`.
void rd_stop_signals_catch(int in_fd);
bool rd_stop_signals_have_come(void);

#endif
