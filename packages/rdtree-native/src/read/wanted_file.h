// SPDX-License-Identifier: Apache-2.0
// A file that the target wants: opened, and if it is small read whole, by any thread.
#ifndef RD_TREE_WANTED_FILE_H
#define RD_TREE_WANTED_FILE_H

#include "entry/source_dirs.h"
#include "stream/record.h"
#include "threads/threads.h"

#include <sys/stat.h>

#define RD_SMALL_FILE_BYTES RD_RECORD_DATA_MAX_BYTES // one DATA record

struct rd_wanted_file {
  struct rd_read_job job;  // rd_wanted_file_read() of it
  struct rd_record record; // FILE; its name is `name`
  char name[RD_NAME_MAX_BYTES + 1];
  uint64_t expected;               // its size when it was scanned
  char *shown;                     // its path, for people
  struct rd_source_dir *directory; // where it is; NULL: that cannot be opened, for `number`
  struct rd_record blocks;         // where RD_WANT_RESUME is wanted; its digests are the file's
  unsigned char *digests;
  unsigned char *after; // encoded records that follow it
  size_t after_bytes, after_room;

  int fd;              // open: its content is to be read from it; else -1
  int number;          // errno of a failure
  const char *reason;  // why it cannot be read, where that is no errno; or NULL
  struct statx status; // as it was when it was opened
  bool is_read;        // whole: these are its content and digest, and it did not change meanwhile
  unsigned char *bytes;
  size_t count, room;
  unsigned char digest[RD_DIGEST_TREE_BYTES];
};

// Fills fd, or number and reason; or all, where the file is small and has no holes.
void rd_wanted_file_read(struct rd_wanted_file *file);
// Closes and frees what is of this file, to be used for another one.
void rd_wanted_file_clear(struct rd_wanted_file *file);
bool rd_wanted_file_has_failed(const struct rd_wanted_file *file);

#endif
