// SPDX-License-Identifier: Apache-2.0
// The metadata of a directory entry, read with one system call.
#ifndef RD_TREE_METADATA_H
#define RD_TREE_METADATA_H

#include "stream/record.h"

#include <sys/stat.h>

// Reads the metadata of `name` in the directory `fd`, or of `fd` itself if the name is empty. Symbolic links are not
// followed, and automounts are not triggered. A network file system may answer from its cache, as it does for stat().
// Returns false, with errno, on failure.
bool rd_status_of_name(int fd, const char *name, struct statx *status);
bool rd_status_of_fd(int fd, struct statx *status);

struct rd_metadata rd_metadata_of(const struct statx *status);
uint64_t rd_device_of(const struct statx *status);  // as st_dev: the file system that contains the entry
uint64_t rd_special_of(const struct statx *status); // as st_rdev: the device that the entry represents

// Returns true if the content may have changed between `before` and `after`.
bool rd_status_differs(const struct statx *before, const struct statx *after);

#endif
