// SPDX-License-Identifier: Apache-2.0
// The root of the paths in settings: the working directory, or the directory that a server serves.
#ifndef RD_TREE_ROOT_H
#define RD_TREE_ROOT_H

#include <stdbool.h>
#include <sys/stat.h>

// Resolves every path of the settings below the directory `fd`, which must stay open: `/a`, `~/a` and `a` name the same
// entry, `..` stops at the root, and no symbolic link leads out of it. Call once, before other threads run.
void rd_root_set(int fd);
// Returns true if a server serves the directory: then owners, set-user-id bits and devices of the peer are not applied.
bool rd_root_is_set(void);
// Returns a path of the settings with $HOME in place of a leading `~` or `~/`, or unchanged if a directory is served.
// The caller frees it. Returns NULL, with errno, if $HOME is not set.
char *rd_home_path(const char *path);
// Like open() without O_CREAT, close-on-exec. Returns -1 with errno; ENOSYS: the kernel cannot confine paths to a
// directory.
int rd_root_open(const char *path, int flags);
// Like stat() and mkdir(), but return true on success.
bool rd_root_stat(const char *path, struct stat *status);
bool rd_root_mkdir(const char *path, mode_t mode);

#endif
