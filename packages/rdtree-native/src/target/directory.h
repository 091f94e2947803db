// SPDX-License-Identifier: Apache-2.0
// A target directory that is being written to: its descriptor, shared by everything done in it.
#ifndef RD_TREE_WRITE_DIRECTORY_H
#define RD_TREE_WRITE_DIRECTORY_H

#include "target/context.h"

#include <sys/stat.h>

struct rd_directory {
  struct rd_write *write;
  struct rd_directory *parent; // NULL for the top
  char *name;                  // for the top: its path for messages; empty: the same directory as its parent
  int fd;
  dev_t device;
  bool is_new;          // created by this run: contains only what this run creates
  bool has_default_acl; // new entries in it get an ACL
  bool is_source;       // at depth 0: `source` is its number
  uint32_t source;
  bool is_changed; // used only by the thread that reads the stream
  atomic_uint uses;
  atomic_uint_fast64_t file_ns, file_bytes; // totals of the files in it
};

// Takes ownership of `fd`, and a reference to `parent` if there is one. The new directory has one reference.
struct rd_directory *rd_directory_create(struct rd_write *write, struct rd_directory *parent, const char *name, int fd,
                                         bool is_new);
// Adds a reference; returns `directory`.
struct rd_directory *rd_directory_use(struct rd_directory *directory);
// Drops a reference; closes the directory after the last one. NULL-safe.
void rd_directory_release(struct rd_directory *directory);
// The number of directories that are open.
unsigned rd_directories_open(void);

// The path of `name` in it (NULL: of the directory): for messages; relative to the top ("" is the top); or relative to
// its source. The caller frees it.
char *rd_directory_path(const struct rd_directory *directory, const char *name);
char *rd_directory_below_top(const struct rd_directory *directory, const char *name);
char *rd_directory_below_source(const struct rd_directory *directory, const char *name, uint32_t *source);

// Opens the directory `path` below `top` (empty: `top` itself) without following symbolic links. Returns -1 with errno.
int rd_open_below(int top, const char *path);
// Opens the directory `name` in `parent`. Creates it if it is missing, also in place of an entry that is not a
// directory. *mode_before is its mode before the owner was given access to it. Returns -1 with errno.
int rd_directory_open(const struct rd_directory *parent, const char *name, bool *is_new, mode_t *mode_before);

#endif
