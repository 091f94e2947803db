// SPDX-License-Identifier: Apache-2.0
#include "entry/metadata.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

static bool is_same_time(struct statx_timestamp one, struct statx_timestamp other);

bool rd_status_of_name(int fd, const char *name, struct statx *status) {
  int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name == '\0' ? AT_EMPTY_PATH : 0);
  return statx(fd, name, flags, STATX_BASIC_STATS, status) == 0;
}

bool rd_status_of_fd(int fd, struct statx *status) {
  return rd_status_of_name(fd, "", status);
}

struct rd_metadata rd_metadata_of(const struct statx *status) {
  return (struct rd_metadata){.mode = status->stx_mode,
                              .uid = status->stx_uid,
                              .gid = status->stx_gid,
                              .mtime_ns = status->stx_mtime.tv_nsec,
                              .mtime_s = status->stx_mtime.tv_sec};
}

uint64_t rd_device_of(const struct statx *status) {
  return makedev(status->stx_dev_major, status->stx_dev_minor);
}

uint64_t rd_special_of(const struct statx *status) {
  return makedev(status->stx_rdev_major, status->stx_rdev_minor);
}

bool rd_status_differs(const struct statx *before, const struct statx *after) {
  return before->stx_size != after->stx_size || !is_same_time(before->stx_mtime, after->stx_mtime) ||
         !is_same_time(before->stx_ctime, after->stx_ctime);
}

static bool is_same_time(struct statx_timestamp one, struct statx_timestamp other) {
  return one.tv_sec == other.tv_sec && one.tv_nsec == other.tv_nsec;
}
