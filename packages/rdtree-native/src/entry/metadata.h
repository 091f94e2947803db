// SPDX-License-Identifier: Apache-2.0
// The metadata of a directory entry, by one system call.
#ifndef RD_TREE_METADATA_H
#define RD_TREE_METADATA_H

#include "stream/record.h"

#include <sys/stat.h>

// Of `name` in a directory, of the link itself where it is a symbolic one; of `fd` itself: an empty name. A directory
// that automount would mount is left alone. A network file system answers as stat() does: from its cache for as long
// as it trusts that. False, with errno.
bool rd_status_of_name(int fd, const char *name, struct statx *status);
bool rd_status_of_fd(int fd, struct statx *status);

struct rd_metadata rd_metadata_of(const struct statx *status);
uint64_t rd_device_of(const struct statx *status);  // as st_dev: the file system that it is on
uint64_t rd_special_of(const struct statx *status); // as st_rdev: the device that it is

// The content may have changed between the two.
bool rd_status_differs(const struct statx *before, const struct statx *after);

#endif
