// SPDX-License-Identifier: Apache-2.0
// The events of a program of a copy: JSON objects, one a line, on standard error.
// See docs/protocol.md, section 5.3; rdpipe reads them as the standard error of the stage. Any thread may call these
// functions.
#ifndef RD_TREE_EVENTS_H
#define RD_TREE_EVENTS_H

#include "stream/record.h"

// Sums of all that a program has done so far.
struct rd_tree_totals {
  uint64_t entries, files, bytes;  // scan: found; write: permanent; compare: compared
  uint64_t same;                   // compare: entries, of the same kind, that the target has already
  uint64_t same_files, same_bytes; // compare: files whose contents the target has already, metadata changed or not
  uint64_t sent_bytes;             // write: of the contents that came
  uint64_t removed, failed, links, directories;
  uint64_t resumed_bytes;  // write: of partial files, that were not sent again
  uint64_t owners_refused; // write: entries whose owner could not be set
};

enum rd_tree_action {
  RD_ACTION_NEW,
  RD_ACTION_CHANGED,  // its content was replaced
  RD_ACTION_METADATA, // mode, owner, times, ACLs or attributes alone
  RD_ACTION_LINK,     // another name of a file
  RD_ACTION_REMOVED,
};
const char *rd_tree_action_name(enum rd_tree_action action); // "new", "changed", "metadata", "link", "removed"

// `progress`: the totals so far and the path at hand (NULL: none), at most every 250 ms unless `is_last`, when it has
// `done`.
void rd_events_progress(const struct rd_tree_totals *totals, const char *path, bool is_last);
// `failed`: one path, by a text for people and the errno of a system call (0: none), whose words are added to the
// text; counts in nothing.
void rd_events_failed(const char *path, int number, const char *text);
// `path`: something was done to a path.
void rd_events_path(enum rd_tree_action action, const char *path, uint64_t bytes);
// `warning`: one line.
void rd_events_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
// `slowest`: of files, or of directories, those that took longest; at the end.
struct rd_slow_path {
  const char *path;
  uint64_t bytes, ns;
};
void rd_events_slowest(bool is_directories, const struct rd_slow_path *paths, size_t count);
// Paths that failed, of all threads, so far.
uint64_t rd_events_failures(void);
// `fatal`: why this program ends.
void rd_events_fatal(const struct rd_error *error);

#endif
