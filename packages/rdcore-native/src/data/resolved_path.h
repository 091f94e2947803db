// SPDX-License-Identifier: Apache-2.0
// Where a path leads: a name in a directory that is held open, so that all that follows happens in that directory.
#ifndef RD_DATA_RESOLVED_PATH_H
#define RD_DATA_RESOLVED_PATH_H

#include "base/error.h"

#include <limits.h>
#include <sys/stat.h>

struct rd_resolved_path {
  int directory_fd;        // for *at() calls only (O_PATH); -1: none
  char name[NAME_MAX + 1]; // in it; no symbolic link, unless `is_kernels`
  bool exists;
  bool is_kernels;    // a link of the kernel's own (/proc/self/fd/1) to what is no file: the kernel alone can follow it
  struct stat status; // of what is there, if anything
};

// Follows symbolic links, the last one even if nothing is there. In a directory for all (sticky, and others may write)
// none is followed, and nothing is found, that is another user's and not the directory's owner's: what
// fs.protected_symlinks, _fifos and _regular do, whatever they are set to. False: RD_CODE_SINK_UNWRITABLE, and nothing
// to close. docs/adr/0014-sinks-and-links.md
bool rd_resolve_path(struct rd_resolved_path *resolved, const char *path, struct rd_error *error);
void rd_resolved_path_close(struct rd_resolved_path *resolved);

// As open(2) of what is there, or of a new file with O_CREAT and O_EXCL. A file that is by then another user's, as
// above, is closed again: EACCES.
int rd_resolved_path_open(const struct rd_resolved_path *resolved, int flags);

#endif
