// SPDX-License-Identifier: Apache-2.0
// Lines for the user on standard error, in place of events, if rdsend or rdrecv runs the program.
#ifndef RD_TREE_LINES_H
#define RD_TREE_LINES_H

#include "setup/settings.h"

// Enables lines for rdsend (role send) and rdrecv (role write), but not for other roles or with RD_REPORT_EVENTS. Call
// before any other thread runs.
void rd_lines_begin(const struct rd_tree_settings *settings);
// Returns true if lines replace events.
bool rd_lines_are_wanted(void);

// Shows the first 8 KiB of a path, with its control characters as `?`.
void rd_lines_failed(const char *path, const char *text);
void rd_lines_warning(const char *text);
// Prints nothing if the other end of the stream is the reason: rdsend or rdrecv reports it.
void rd_lines_fatal(const struct rd_error *error);
// Prints the number of files that were done, and of paths that failed.
void rd_lines_summary(uint64_t files, uint64_t bytes, uint64_t failures);

#endif
