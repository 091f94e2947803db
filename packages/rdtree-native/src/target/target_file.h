// SPDX-License-Identifier: Apache-2.0
// A file that is being written to the target: its temporary name, metadata and final name.
#ifndef RD_TREE_WRITE_TARGET_FILE_H
#define RD_TREE_WRITE_TARGET_FILE_H

#include "base/direct_io.h"
#include "target/directory.h"
#include "target/jobs.h"
#include "target/metadata_setter.h"

#define RD_TEMPORARY_BYTES 96u

struct rd_digest;

enum rd_target_file_kind {
  RD_KIND_NONE,     // not created yet, or no longer there
  RD_KIND_UNIQUE,   // under a name that is unique to this run
  RD_KIND_PARTIAL,  // under the name by which the next run finds it
  RD_KIND_IN_PLACE, // under its final name
  RD_KIND_NOTE,     // not a file: an entry to report when it is permanent
};

// A contiguous range of the content.
struct rd_range {
  uint64_t offset, count;
};

struct rd_target_file {
  struct rd_job job;
  struct rd_write *write;
  struct rd_directory *directory;
  char *name;
  uint32_t source; // for an entry of depth 0
  struct rd_wanted_metadata wanted;
  struct rd_metadata read; // as the source has it
  struct rd_attributes attributes;
  enum rd_target_file_kind kind;
  enum rd_tree_action action;
  uint64_t number; // of its unique name
  int fd;
  uint64_t size;
  int64_t begin_ns; // when it was opened: before that it may have waited for other files

  struct rd_range *ranges; // of `data`; with `verify`, of everything written
  size_t range_count;
  unsigned char *data; // content of a small file; NULL: none yet, or it is written as it arrives
  size_t data_bytes, data_room;
  unsigned char digest[RD_DIGEST_TREE_BYTES]; // of the bytes of the ranges, in order

  unsigned char *resumed_digests; // with `verify`: one per block that an interrupted copy left; otherwise NULL
  size_t resumed_count;
  uint64_t resumed_block_bytes;

  struct rd_digest *running;  // of a file that is written as it arrives
  uint64_t end;               // of its data
  int other_fd;               // another run's partial file, from which the beginning is taken; -1: none
  struct rd_direct_io direct; // see write/direct_file.h
  bool may_be_direct, is_direct;
  bool is_unusable_partial; // must not remain as a partial file
  bool stays_at_source;     // only size and time say that its content is the same
  atomic_uint pending;      // jobs, plus 1 until the end of the content
  atomic_bool is_failed;    // and the failure was reported

  struct rd_target_file *next; // in its batch
};

// Takes a reference to `directory`, and ownership of the attributes.
struct rd_target_file *rd_target_file_create(struct rd_write *write, struct rd_directory *directory, const char *name,
                                             const struct rd_entry *entry, struct rd_attributes *attributes);
// Frees the file; removes it from the target unless it was published, or is a partial file that may remain. NULL-safe.
void rd_target_file_destroy(struct rd_target_file *file);

// Returns true if it is a partial file with which the next run can continue.
bool rd_target_file_may_stay(const struct rd_target_file *file);

// Opens the file. With `may_resume`, opens its partial file and keeps the content, unless another run has that locked:
// then `other_fd` refers to it. Returns false on failure, which was reported.
bool rd_target_file_open(struct rd_target_file *file, bool may_resume);
// Writes bytes of the content. Returns false on failure, which was reported.
bool rd_target_file_write(struct rd_target_file *file, uint64_t offset, const unsigned char *bytes, size_t count);
// Adds a range; adjacent ranges are merged. Fails the file if there are too many.
void rd_target_file_add_range(struct rd_target_file *file, uint64_t offset, uint64_t count);
// Call when the content is written: frees what is no longer needed, because a batch has thousands of files.
void rd_target_file_forget_content(struct rd_target_file *file);
// The memory that the file takes.
size_t rd_target_file_bytes(const struct rd_target_file *file);
// Sets the metadata, closes the file unless it is still needed open, and adds it to the batch; destroys it on failure.
void rd_target_file_complete(struct rd_target_file *file);
// Writes the file to the disk. Returns false on failure, which was reported: no run may continue its partial file.
bool rd_target_file_sync(struct rd_target_file *file);
// Reads the file back from the disk, including resumed blocks. Returns false on failure or a difference, which was
// reported.
bool rd_target_file_verify(struct rd_target_file *file);
// Gives the file its final name. Returns false on failure, which was reported.
bool rd_target_file_publish(struct rd_target_file *file);

// Reports the first failure of the file. `number`: errno, or 0. Always returns false.
bool rd_target_file_fail(struct rd_target_file *file, int number, const char *text);
// Writes the temporary name number `number` of this run.
void rd_temporary_name(const struct rd_write *write, uint64_t number, char name[RD_TEMPORARY_BYTES]);
// Like rename() within a directory, but removes a directory that is in the way, if allowed. Returns false with errno;
// sets *text if a directory was in the way.
bool rd_rename_over(const struct rd_directory *directory, const char *from, const char *to, const char **text);

#endif
