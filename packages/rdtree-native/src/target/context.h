// SPDX-License-Identifier: Apache-2.0
// State that all parts of one write share: settings, totals, and the first error that ends it.
#ifndef RD_TREE_WRITE_CONTEXT_H
#define RD_TREE_WRITE_CONTEXT_H

#include "report/events.h"
#include "setup/settings.h"
#include "stream/record.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

// Refused operations, which are counted, and reported once at the end.
enum rd_write_refusal {
  RD_REFUSED_OWNERS,
  RD_REFUSED_ATTRIBUTES,
  RD_REFUSED_ACLS,
  RD_REFUSAL_COUNT,
};

struct rd_batches;
struct rd_target_file;
struct rd_jobs;
struct rd_owner_map;
struct rd_patterns;
struct rd_slowest;
struct rd_xattrs;

struct rd_write {
  const struct rd_tree_settings *settings;
  mode_t umask;
  uid_t user;
  gid_t group;
  atomic_uint_fast64_t numbers;         // the next number of a temporary file
  atomic_uint_fast64_t source_failures; // entries of the source that could not be read
  atomic_bool cannot_clone;             // cloning failed for a pair of file systems; a copy rarely has another pair
  int link_dests[RD_LINK_DESTS_MAX];    // the directories of --link-dest; -1: not open
  struct rd_jobs *jobs;                 // owned by the caller, as are the following pointers
  struct rd_slowest *slowest;
  struct rd_owner_map *owners;
  struct rd_patterns *patterns;
  struct rd_xattrs *xattrs;
  struct rd_batches *batches;
  void (*add)(struct rd_batches *batches, struct rd_target_file *file); // takes ownership of a complete file

  pthread_mutex_t lock; // guards all fields below
  struct rd_tree_totals totals;
  struct rd_error error; // the first one; RD_CODE_OK: none
  uint64_t refused[RD_REFUSAL_COUNT];
  atomic_bool is_disk_lost; // a write to it failed: partial files are also removed
  atomic_bool is_stopped;   // there is an error; may be read without the lock
  _Atomic int64_t late_ms;  // from then on nothing more is begun, because the input ended too early; 0: it has not
};

// Initializes `write`. Reads and clears the umask of the process, whose other threads must not run yet.
void rd_write_begin(struct rd_write *write, const struct rd_tree_settings *settings);
// Restores the umask.
void rd_write_end(struct rd_write *write);

// Ends the copy: keeps the first error, and all parts end as soon as they can. Any thread may call it.
void rd_write_stop(struct rd_write *write, const struct rd_error *error);
// The input ended too early: what was received whole is still written, if that begins within `within_ms`.
void rd_write_cut(struct rd_write *write, int64_t within_ms);
// Returns false if nothing more is to be written. Any thread may call it.
bool rd_write_may_continue(const struct rd_write *write);
// Reports a path that could not be written: as an event, or by ending the copy if `number` (errno) is that of a
// broken file system. `fd`: in that file system, or -1. Any thread may call it.
void rd_write_failed(struct rd_write *write, int fd, const char *path, int number, const char *text);
// Counts a refused operation. Any thread may call it.
void rd_write_refused(struct rd_write *write, enum rd_write_refusal refusal);
// Adds `more` to the totals; fields that do not change are 0 in it.
void rd_write_count(struct rd_write *write, const struct rd_tree_totals *more);
// Emits a `progress` event if one is due; `path` as for rd_events_progress().
void rd_write_progress(struct rd_write *write, const char *path, bool is_last);
// Emits the totals of a copy that ends too early.
void rd_write_totals(struct rd_write *write);
// Emits warnings for the refused operations.
void rd_write_warn(struct rd_write *write);

#endif
