// SPDX-License-Identifier: Apache-2.0
// The place where paths of settings begin: the working directory, or the one that a server serves.
#ifndef RD_TREE_ROOT_H
#define RD_TREE_ROOT_H

#include <stdbool.h>
#include <sys/stat.h>

// From now on every path of the settings is below the directory `fd`, which stays open: `/a`, `~/a` and `a` name the
// same entry there, `..` stops at it, and no symbolic link leads out of it. Call it once, before other threads run.
void rd_root_set(int fd);
// A server serves a directory: owners, set-user-id bits and devices of the other side are not taken over.
bool rd_root_is_set(void);
// A path of the settings with $HOME in place of a leading `~` or `~/`; where a directory is served it is as it was. The
// caller frees it. NULL, with errno: there is no $HOME.
char *rd_home_path(const char *path);
// As open() without O_CREAT, close-on-exec. -1 and errno; ENOSYS: the kernel cannot keep paths below a directory.
int rd_root_open(const char *path, int flags);
// As stat() and mkdir().
bool rd_root_stat(const char *path, struct stat *status);
bool rd_root_mkdir(const char *path, mode_t mode);

#endif
