// SPDX-License-Identifier: Apache-2.0
#include "target/metadata_setter.h"

#include "base/memory.h"
#include "entry/owner_map.h"
#include "entry/root.h"
#include "entry/xattrs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LIST_MAX_BYTES (64u << 10)

static mode_t set_owner(struct rd_write *write, int fd, const struct stat *now, const struct rd_metadata *metadata);
static mode_t mode_bits(void);
static bool set_mode(const char *path, int fd, bool is_path, mode_t mode);
static void set_attributes(struct rd_write *write, const char *path, const struct rd_wanted_metadata *wanted);
static void remove_others(const struct rd_write *write, const char *path, const struct rd_attributes *wanted);
static bool is_acl(const char *name);
static bool set_times(int fd, bool is_path, const struct rd_metadata *metadata);

mode_t rd_plain_mode(const struct rd_write *write, const struct rd_metadata *metadata) {
  return metadata->mode & 0777 & ~write->umask;
}

mode_t rd_first_mode(const struct rd_write *write, const struct rd_wanted_metadata *wanted) {
  if (!write->settings->archive) return wanted->plain_mode;
  // An entry of another owner must not be accessible to this process's group before it has that owner.
  const struct rd_metadata *metadata = &wanted->metadata;
  bool is_ours = metadata->uid == write->user && metadata->gid == write->group;
  return metadata->mode & (is_ours ? 0777u : 0700u);
}

bool rd_metadata_set(struct rd_write *write, int fd, bool is_path, const struct stat *now,
                     const struct rd_wanted_metadata *wanted) {
  const struct rd_metadata *metadata = &wanted->metadata;
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  bool is_symlink = S_ISLNK(metadata->mode);
  if (now != NULL) {
    mode_t mode = wanted->plain_mode;
    if (write->settings->archive) mode = metadata->mode & mode_bits() & ~set_owner(write, fd, now, metadata);
    bool was_given = now->st_uid != metadata->uid || now->st_gid != metadata->gid;
    bool is_right = (now->st_mode & 07777) == mode && !(write->settings->archive && was_given && (mode & 07000) != 0);
    if (!is_symlink && !is_right && !set_mode(path, fd, is_path, mode)) return false;
  }
  if (write->settings->acls || write->settings->xattrs) set_attributes(write, path, wanted);
  return set_times(fd, is_path, metadata);
}

// Set-user-ID and set-group-ID would give a client of a server the rights of the server's user.
static mode_t mode_bits(void) {
  return rd_root_is_set() ? 0777 : 07777;
}

// Returns the mode bits that must not be set: with another owner than at the source, set-user-ID or set-group-ID would
// give a program rights that the source never gave.
static mode_t set_owner(struct rd_write *write, int fd, const struct stat *now, const struct rd_metadata *metadata) {
  bool is_other_user = now->st_uid != metadata->uid, is_other_group = now->st_gid != metadata->gid;
  uid_t user = is_other_user && rd_owner_map_sets_users(write->owners) ? metadata->uid : (uid_t)-1;
  gid_t group = is_other_group && rd_owner_map_sets_group(write->owners, metadata->gid) ? metadata->gid : (gid_t)-1;
  bool is_asked = user != (uid_t)-1 || group != (gid_t)-1;
  bool is_set = is_asked && fchownat(fd, "", user, group, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0;
  bool is_user_wrong = is_other_user && !(is_set && user != (uid_t)-1);
  bool is_group_wrong = is_other_group && !(is_set && group != (gid_t)-1);
  if (is_user_wrong || is_group_wrong) rd_write_refused(write, RD_REFUSED_OWNERS);
  return (is_user_wrong ? S_ISUID : 0) | (is_group_wrong ? S_ISGID : 0);
}

static bool set_mode(const char *path, int fd, bool is_path, mode_t mode) {
  return (is_path ? chmod(path, mode) : fchmod(fd, mode)) == 0;
}

// Call after setting the mode, which an ACL contains as well. A stream may have any names; only wanted ones are set.
static void set_attributes(struct rd_write *write, const char *path, const struct rd_wanted_metadata *wanted) {
  struct rd_xattr xattr;
  if (wanted->may_have_more) remove_others(write, path, wanted->attributes);
  for (size_t at = 0; rd_attributes_next(wanted->attributes, &at, &xattr);) {
    const char *name = (const char *)xattr.name.at;
    if (rd_xattr_is_wanted(write->xattrs, xattr.name) && setxattr(path, name, xattr.value.at, xattr.value.count, 0) < 0)
      rd_write_refused(write, is_acl(name) ? RD_REFUSED_ACLS : RD_REFUSED_ATTRIBUTES);
  }
}

static void remove_others(const struct rd_write *write, const char *path, const struct rd_attributes *wanted) {
  char *names = rd_memory_new(LIST_MAX_BYTES, 1);
  ssize_t bytes = listxattr(path, names, LIST_MAX_BYTES);
  for (ssize_t at = 0; at < bytes; at += (ssize_t)strlen(names + at) + 1)
    if (rd_xattr_is_wanted(write->xattrs, rd_bytes_of(names + at)) &&
        !rd_attributes_have_name(wanted, rd_bytes_of(names + at)))
      (void)removexattr(path, names + at);
  free(names);
}

static bool is_acl(const char *name) {
  return strcmp(name, "system.posix_acl_access") == 0 || strcmp(name, "system.posix_acl_default") == 0;
}

static bool set_times(int fd, bool is_path, const struct rd_metadata *metadata) {
  const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                    {.tv_sec = metadata->mtime_s, .tv_nsec = metadata->mtime_ns}};
  return (is_path ? utimensat(fd, "", times, AT_EMPTY_PATH) : futimens(fd, times)) == 0;
}
