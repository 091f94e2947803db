// SPDX-License-Identifier: Apache-2.0
// The settings of one program of a copy: the JSON object of its `tree` stage.
// See docs/protocol/trees.md, section 5.2.
#ifndef RD_TREE_SETTINGS_H
#define RD_TREE_SETTINGS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum rd_tree_role {
  RD_TREE_SCAN,    // reads directories and metadata of the source
  RD_TREE_COMPARE, // keeps what the target lacks, and adds what is to be removed there
  RD_TREE_READ,    // adds the contents of files
  RD_TREE_WRITE,   // writes to the target
  RD_TREE_COPY,    // read and write in one program, where source and target are on one host
  RD_TREE_CLEAN,   // removes files of the source that are permanent at the target
  RD_TREE_SEND,    // scan and read in one program, without a comparison: of rdsend
  RD_TREE_UNITE,   // makes one stream of the decisions of several targets
};

enum rd_tree_list { RD_LIST_NONE, RD_LIST_LINES, RD_LIST_NUL }; // paths on standard input: how they end
enum rd_tree_plan { RD_PLAN_NONE, RD_PLAN_TEXT, RD_PLAN_JSON }; // compare: a plan in place of records

// The form of standard error. Lines are of rdsend and rdrecv alone: those of paths that failed; RD_REPORT_TEXT also
// warnings, and a summary where paths failed; RD_REPORT_VERBOSE a summary always.
enum rd_tree_output { RD_REPORT_EVENTS, RD_REPORT_QUIET, RD_REPORT_TEXT, RD_REPORT_VERBOSE };

struct rd_tree_pattern {
  bool is_include;
  char *text; // gitignore's syntax
};

struct rd_tree_settings {
  enum rd_tree_role role;
  char **sources; // paths of the source's host, as the user named them; compare, write: from the last slash
  size_t source_count;
  char *target;           // compare, write, copy: a path of the target's host
  enum rd_tree_list list; // scan: only the paths on standard input, below the only source
  struct rd_tree_pattern *patterns;
  size_t pattern_count;
  bool recursive;       // -r
  bool archive;         // -a: exact modes, owners, hard links, special files
  bool acls, xattrs;    // -A, -X
  bool one_file_system; // -x
  bool checksum;        // compare by digest
  bool remove;          // --delete
  uint64_t remove_most; // --max-delete; UINT64_MAX: no limit
  bool make_parents;    // --mkpath
  bool partial;         // keep and continue what an interrupted copy left
  bool in_place;        // --inplace
  bool verify;          // read back what was written
  bool clean;           // --remove-source-files: write sends RESULTS on its standard output
  bool paths;           // an event for every path
  bool alone;           // of rdsend or rdrecv: failed paths are status 23, for nothing else counts them
  enum rd_tree_plan plan;
  enum rd_tree_output report;
  unsigned jobs;  // threads; 0: see rd_tree_threads()
  unsigned width; // targets of the copy, which name their temporary files RUN-RANK; 0: one, without WANTS and SKIP
  unsigned rank;  // write: its own
  char *host;     // compare: the target in a plan of JSON; NULL: there is one
  char run[64];   // names temporary files: hexadecimal digits and '-'
};

// NULL (RD_CODE_INTERNAL), naming the field: `text` is no such object. Free with rd_tree_settings_destroy().
struct rd_tree_settings *rd_tree_settings_decode(const char *text, size_t bytes, struct rd_error *error);
void rd_tree_settings_destroy(struct rd_tree_settings *settings); // NULL-safe

// `jobs`, or without them 8 threads where they mostly wait for a disk; else as many as there are processors, at most 8.
unsigned rd_tree_threads(const struct rd_tree_settings *settings, bool mostly_wait);

#endif
