// SPDX-License-Identifier: Apache-2.0
// A file on its way to the target: its temporary name, its metadata, and how it gets its name.
#ifndef RD_TREE_WRITE_TARGET_FILE_H
#define RD_TREE_WRITE_TARGET_FILE_H

#include "target/directory.h"
#include "target/jobs.h"
#include "target/metadata_setter.h"

#define RD_TEMPORARY_BYTES 96u

struct rd_digest;

enum rd_target_file_kind {
  RD_KIND_NONE,     // not there yet, or no longer
  RD_KIND_UNIQUE,   // under a name of this run
  RD_KIND_PARTIAL,  // under the name by which the next run finds it
  RD_KIND_IN_PLACE, // under its own name
  RD_KIND_NOTE,     // no file: an entry that is to be reported when it is permanent
};

// Bytes of the content that lie together.
struct rd_range {
  uint64_t offset, count;
};

struct rd_target_file {
  struct rd_job job;
  struct rd_write *write;
  struct rd_directory *directory;
  char *name;
  uint32_t source; // of an entry of depth 0
  struct rd_wanted_metadata wanted;
  struct rd_metadata read; // as the source has it
  struct rd_attributes attributes;
  enum rd_target_file_kind kind;
  enum rd_tree_action action;
  uint64_t number; // of its unique name
  int fd;
  uint64_t size;
  int64_t begin_ns;

  struct rd_range *ranges; // of `data`; with `verify` of what was written
  size_t range_count;
  unsigned char *data; // of a small file; NULL: none yet, or it is written as it comes
  size_t data_bytes, data_room;
  unsigned char digest[RD_DIGEST_TREE_BYTES]; // of the bytes of the ranges, in order

  unsigned char *resumed_digests; // with `verify`: of each block that an interrupted copy left; else NULL
  size_t resumed_count;
  uint64_t resumed_block_bytes;

  struct rd_digest *running; // of a file that is written as it comes
  uint64_t end;              // of its data
  int other_fd;              // another run's file, from which its beginning is taken; -1: none
  bool is_unusable_partial;  // as a partial file
  atomic_uint pending;       // jobs, and 1 for the end of the content
  atomic_bool is_failed;     // and reported

  struct rd_target_file *next; // of its batch
};

// Takes a use of `directory`, and the attributes.
struct rd_target_file *rd_target_file_create(struct rd_write *write, struct rd_directory *directory, const char *name,
                                             const struct rd_entry *entry, struct rd_attributes *attributes);
// Removes it from the target unless it was published, or is a partial file that may stay. NULL-safe.
void rd_target_file_destroy(struct rd_target_file *file);

// Opens it; with `may_resume` under its partial name, with what is there of it, unless another run holds that: then
// `other_fd` is that. False: failed, and reported.
bool rd_target_file_open(struct rd_target_file *file, bool may_resume);
bool rd_target_file_write(struct rd_target_file *file, uint64_t offset, const unsigned char *bytes, size_t count);
// Adds to the ranges, of which neighbours become one. There may be too many, which fails the file.
void rd_target_file_add_range(struct rd_target_file *file, uint64_t offset, uint64_t count);
// When it is written: a batch has thousands of files, of which only what is still needed stays in memory.
void rd_target_file_forget_content(struct rd_target_file *file);
// The memory that it takes.
size_t rd_target_file_bytes(const struct rd_target_file *file);
// Sets its metadata, closes it unless it is needed open, and adds it to the batch, or destroys it.
void rd_target_file_complete(struct rd_target_file *file);
// Writes it to the disk. False: failed, and reported: no run may take up its partial file.
bool rd_target_file_sync(struct rd_target_file *file);
// Reads it back from the disk, resumed blocks included. False: failed, and reported.
bool rd_target_file_verify(struct rd_target_file *file);
// Gives it its name. False: failed, and reported.
bool rd_target_file_publish(struct rd_target_file *file);

// Reports the first failure of the file. `number` as errno. False always.
bool rd_target_file_fail(struct rd_target_file *file, int number, const char *text);
void rd_temporary_name(const struct rd_write *write, uint64_t number, char name[RD_TEMPORARY_BYTES]);
// rename() within a directory, for which a directory in the way is removed if that may be. False: errno, or a text.
bool rd_rename_over(struct rd_write *write, int directory, const char *from, const char *to, const char **text);

#endif
