// SPDX-License-Identifier: Apache-2.0
// Lines for people on standard error, in place of events, where rdsend or rdrecv runs the program.
#ifndef RD_TREE_LINES_H
#define RD_TREE_LINES_H

#include "setup/settings.h"

// Of rdsend (role send) or rdrecv (write); of other roles, and with RD_REPORT_EVENTS, there are no lines. Before any
// other thread runs.
void rd_lines_begin(const struct rd_tree_settings *settings);
bool rd_lines_are_wanted(void);

// A path is shown whole up to 8 KiB, and control characters in it as `?`.
void rd_lines_failed(const char *path, const char *text);
void rd_lines_warning(const char *text);
// Nothing where the other end of the stream is the reason: rdsend or rdrecv names it.
void rd_lines_fatal(const struct rd_error *error);
// The files that were done, and how many paths failed.
void rd_lines_summary(uint64_t files, uint64_t bytes, uint64_t failures);

#endif
