// SPDX-License-Identifier: Apache-2.0
// The settings of one program of a copy: the JSON object of its `tree` stage.
// See docs/protocol/trees.md, section 5.2.
#ifndef RD_TREE_SETTINGS_H
#define RD_TREE_SETTINGS_H

#include "base/error.h"
#include "base/siphash.h"
#include "base/tree_role.h"

#include <stddef.h>
#include <stdint.h>

#define RD_SETTINGS_LINK_DESTS_MAX 20u // as many as rsync accepts

enum rd_tree_list { RD_LIST_NONE, RD_LIST_LINES, RD_LIST_NUL }; // how the paths of a list end
enum rd_tree_plan { RD_PLAN_NONE, RD_PLAN_TEXT, RD_PLAN_JSON }; // compare: a plan in place of records

// The form of standard error. Lines are of rdsend and rdrecv alone: those of paths that failed; RD_REPORT_TEXT also
// warnings, and a summary where paths failed; RD_REPORT_VERBOSE a summary always.
enum rd_tree_output { RD_REPORT_EVENTS, RD_REPORT_QUIET, RD_REPORT_TEXT, RD_REPORT_VERBOSE };

struct rd_tree_pattern {
  bool is_include;
  char *text; // gitignore's syntax
};

#define RD_TREE_NUMBER_MEMBER(name, row) uint64_t name;
#define RD_TREE_FLAG_MEMBER(name, row) bool name;

struct rd_tree_settings {
  enum rd_tree_role role;
  char **sources; // paths of the source's host, as the user named them; compare, write: from the last slash
  size_t source_count;
  char *target;           // compare, write, copy: a path of the target's host; scan: if it is on that of the source
  char **link_dests;      // likewise: --link-dest, relative to the target directory or absolute
  size_t link_dest_count; // at most RD_SETTINGS_LINK_DESTS_MAX
  enum rd_tree_list list; // only the paths of a list, below the only source
  char *list_text;        // the list; scan: what of it comes before standard input. NULL: none, or it is too long
  size_t list_bytes;
  struct rd_tree_pattern *patterns;
  size_t pattern_count;
  // Options of the copy; `remove_most`: UINT64_MAX: no limit; `jobs`: threads; 0: see rd_tree_threads().
  RD_TREE_OPTIONS(RD_TREE_NUMBER_MEMBER, RD_TREE_FLAG_MEMBER)
  bool paths; // an event for every path
  bool alone; // of rdsend or rdrecv: failed paths are status 23, for nothing else counts them
  enum rd_tree_plan plan;
  enum rd_tree_output report;
  unsigned width; // targets of the copy, which name their temporary files RUN-RANK; 0: one, without WANTS and SKIP
  unsigned rank;  // write: its own
  char *host;     // compare: the target in a plan of JSON; NULL: there is one
  char run[64];   // names temporary files: hexadecimal digits and '-'
  unsigned char key[RD_SIPHASH_KEY_BYTES]; // compare, write: of the digests of their tallies; zeros: not given
};

// NULL (RD_CODE_INTERNAL), naming the field: `text` is no such object. Free with rd_tree_settings_destroy().
struct rd_tree_settings *rd_tree_settings_decode(const char *text, size_t bytes, struct rd_error *error);
void rd_tree_settings_destroy(struct rd_tree_settings *settings); // NULL-safe

// `jobs`, or without them 8 threads where they mostly wait for a disk; else as many as there are processors, at most 8.
unsigned rd_tree_threads(const struct rd_tree_settings *settings, bool mostly_wait);

#endif
