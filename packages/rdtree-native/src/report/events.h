// SPDX-License-Identifier: Apache-2.0
// The events of a program of a copy: JSON objects, one per line, on standard error.
// See docs/protocol/trees.md, section 5.3; rdpipe reads them as the standard error of the stage. Any thread may call
// these functions.
#ifndef RD_TREE_EVENTS_H
#define RD_TREE_EVENTS_H

#include "stream/record.h"

// Totals of everything that a program has done so far.
struct rd_tree_totals {
  uint64_t entries, files, bytes;  // scan: found; write: permanent; compare: compared
  uint64_t same;                   // compare: entries that the target already has unchanged
  uint64_t same_files, same_bytes; // compare: files whose contents the target already has, whatever their metadata
  uint64_t sent_bytes;             // write: bytes of contents received
  uint64_t removed, failed, links, directories; // compare: `removed` are names to be removed
  uint64_t resumed_bytes;                       // write: bytes of partial files that were not sent again
  uint64_t owners_refused;                      // write: entries whose owner could not be set
};

enum rd_tree_action {
  RD_ACTION_NEW,
  RD_ACTION_CHANGED,  // its content was replaced
  RD_ACTION_METADATA, // only mode, owner, times, ACLs or attributes
  RD_ACTION_LINK,     // another name of a file
  RD_ACTION_REMOVED,
};
const char *rd_tree_action_name(enum rd_tree_action action); // "new", "changed", "metadata", "link", "removed"

// `progress`: the totals so far and the current path (NULL: none), at most every 250 ms. `is_last`: always emitted,
// with `done` true.
void rd_events_progress(const struct rd_tree_totals *totals, const char *path, bool is_last);
// `progress` of a program that ends before its work is done.
void rd_events_totals(const struct rd_tree_totals *totals);
// `kept`: the first bytes of a file that the next run does not need again.
void rd_events_kept(const char *path, uint64_t bytes);
// `failed`: one path, with a text for the user and the errno of a system call (0: none), whose description is appended
// to the text. Counts in rd_events_failures(), but not in any totals.
void rd_events_failed(const char *path, int number, const char *text);
// `path`: what was done to a path.
void rd_events_path(enum rd_tree_action action, const char *path, uint64_t bytes);
// `warning`: one line.
void rd_events_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
// `slowest`: the files, or the directories, that took longest; emitted at the end.
struct rd_slow_path {
  const char *path;
  uint64_t bytes, ns;
};
void rd_events_slowest(bool is_directories, const struct rd_slow_path *paths, size_t count);
// `decisions`: of compare and write, whose digests of a tally differ if a program between them left something out.
// `dropped`: paths that the source's host says it could not give; `skipped`: special files without -a.
void rd_events_decisions(const unsigned char digest[RD_DIGEST_TREE_BYTES], uint64_t dropped, uint64_t skipped);
// The number of paths that failed so far, in all threads.
uint64_t rd_events_failures(void);
// `fatal`: the reason why this program ends.
void rd_events_fatal(const struct rd_error *error);

#endif
