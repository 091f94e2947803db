// SPDX-License-Identifier: Apache-2.0
// A resolved path: a name in a directory that is kept open, for all later calls on that file.
#ifndef RD_SINK_RESOLVED_PATH_H
#define RD_SINK_RESOLVED_PATH_H

#include "base/error.h"

#include <limits.h>
#include <sys/stat.h>

struct rd_resolved_path {
  int directory_fd;        // for *at() calls only (O_PATH); -1: none
  char name[NAME_MAX + 1]; // in the directory; not a symbolic link, unless `is_kernels`
  bool exists;
  bool is_foreign; // the directory is that of a user of a shared directory, or below it
  bool is_kernels; // a kernel link (/proc/self/fd/1) to an object that is not a file, which only the kernel can follow
  struct stat status; // if it exists
};

// Follows symbolic links, including a last one whose target does not exist. In a shared directory (sticky, and writable
// for others) it refuses links, files and fifos of users other than this one and the directory's owner, as the kernel
// does with fs.protected_symlinks, _fifos and _regular, but regardless of these settings. Below a directory of such a
// user it refuses links of all users but this one and root. Returns false on failure (RD_CODE_SINK_UNWRITABLE); then
// there is nothing to close. docs/adr/0014-sinks-and-links.md
bool rd_resolve_path(struct rd_resolved_path *resolved, const char *path, struct rd_error *error);
void rd_resolved_path_close(struct rd_resolved_path *resolved);

// Like open(2); `flags` with O_CREAT need O_EXCL. Fails with EACCES if a file of another user, as above, has appeared
// meanwhile.
int rd_resolved_path_open(const struct rd_resolved_path *resolved, int flags);
// Returns true if a file that is written in place must not have another name, which another user may have made of a
// file elsewhere: it is in a shared directory, or below a directory of another user there.
bool rd_resolved_path_is_shared(const struct rd_resolved_path *resolved);

#endif
