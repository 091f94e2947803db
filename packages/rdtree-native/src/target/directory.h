// SPDX-License-Identifier: Apache-2.0
// A directory of the target that is being written to: its descriptor, shared by all that is done in it.
#ifndef RD_TREE_WRITE_DIRECTORY_H
#define RD_TREE_WRITE_DIRECTORY_H

#include "target/context.h"

#include <sys/stat.h>

struct rd_directory {
  struct rd_write *write;
  struct rd_directory *parent; // NULL: the top
  char *name;                  // of the top: the path for people; empty: the same directory as its parent
  int fd;
  dev_t device;
  bool is_new;          // made by this run: it has nothing but what this run makes
  bool has_default_acl; // what is made in it gets an ACL
  bool is_source;       // of depth 0: `source` is its number
  uint32_t source;
  bool is_changed; // of the thread that reads the stream
  atomic_uint uses;
  atomic_uint_fast64_t file_ns, file_bytes; // of the files in it
};

// Takes `fd` and, where there is one, a use of `parent`. Its user count is 1.
struct rd_directory *rd_directory_create(struct rd_write *write, struct rd_directory *parent, const char *name, int fd,
                                         bool is_new);
struct rd_directory *rd_directory_use(struct rd_directory *directory);
// Closes it after its last use. NULL-safe.
void rd_directory_release(struct rd_directory *directory);
unsigned rd_directories_open(void);

// The path of `name` in it (NULL: its own) for people; as it is below the top ("" is the top); or below its source. The
// caller frees it.
char *rd_directory_path(const struct rd_directory *directory, const char *name);
char *rd_directory_below_top(const struct rd_directory *directory, const char *name);
char *rd_directory_below_source(const struct rd_directory *directory, const char *name, uint32_t *source);

// Opens the directory `path`, which is below `top` or empty, without following a symbolic link. -1: errno.
int rd_open_below(int top, const char *path);
// Opens the directory `name` in `parent`, and makes it where it is missing. -1: errno.
int rd_directory_open(const struct rd_directory *parent, const char *name, bool *is_new, mode_t *mode_before);

#endif
