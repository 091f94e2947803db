// SPDX-License-Identifier: Apache-2.0
#include "sink/file_metadata.h"

#include "base/cleanup.h"

#include <linux/limits.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#define ACCESS_ACL "system.posix_acl_access"

// The buffers have the largest size that the kernel allows: a size that is queried first could change meanwhile.
struct attributes {
  char names[XATTR_LIST_MAX + 1];
  char old[XATTR_SIZE_MAX];
  char new[XATTR_SIZE_MAX];
};

static bool copy_attributes(int from_fd, int to_fd, const char *path, struct rd_error *error);
static bool drop_inherited_acl(int fd);
static bool is_kept(const char *name);
static bool copy_attribute(int from_fd, int to_fd, const char *name, struct attributes *room);
static bool copy_mode(mode_t mode, int fd);
static bool cannot_keep(const char *what, const char *path, struct rd_error *error);

bool rd_file_metadata_copy(int from_fd, int to_fd, const char *path, struct rd_error *error) {
  struct stat old, mine;
  if (fstat(from_fd, &old) < 0 || fstat(to_fd, &mine) < 0) return cannot_keep("owner", path, error);
  bool same_owner = old.st_uid == mine.st_uid && old.st_gid == mine.st_gid;
  if (!same_owner && fchown(to_fd, old.st_uid, old.st_gid) < 0) return cannot_keep("owner", path, error);
  if (!copy_attributes(from_fd, to_fd, path, error)) return false;
  return copy_mode(old.st_mode & 07777, to_fd) || cannot_keep("mode", path, error);
}

static bool copy_attributes(int from_fd, int to_fd, const char *path, struct rd_error *error) {
  RD_AUTO_FREE struct attributes *room = malloc(sizeof *room);
  if (room == NULL || !drop_inherited_acl(to_fd)) return cannot_keep("ACL", path, error);
  ssize_t bytes = flistxattr(from_fd, room->names, XATTR_LIST_MAX);
  if (bytes < 0) return errno == ENOTSUP || cannot_keep("attributes", path, error);
  room->names[bytes] = '\0';
  for (const char *name = room->names; name < room->names + bytes; name += strlen(name) + 1)
    if (is_kept(name) && !copy_attribute(from_fd, to_fd, name, room))
      return cannot_keep(strcmp(name, ACCESS_ACL) == 0 ? "ACL" : name, path, error);
  return true;
}

// The new file inherits the directory's default ACL, which the old file may not have.
static bool drop_inherited_acl(int fd) {
  return fgetxattr(fd, ACCESS_ACL, NULL, 0) <= 0 || fremovexattr(fd, ACCESS_ACL) == 0;
}

// Other attributes belong to the file system. A write removes capabilities; ima and evm are digests that the kernel
// computes from the file's content.
static bool is_kept(const char *name) {
  static const char *const lost[] = {"security.capability", "security.ima", "security.evm"};
  for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
    if (strcmp(name, lost[i]) == 0) return false;
  static const char *const kept[] = {ACCESS_ACL, "user.", "security.", "trusted."};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    if (strncmp(name, kept[i], strlen(kept[i])) == 0) return true;
  return false;
}

// Does not set a security label that the new file already has, because most users may not set one.
static bool copy_attribute(int from_fd, int to_fd, const char *name, struct attributes *room) {
  ssize_t old = fgetxattr(from_fd, name, room->old, sizeof room->old);
  if (old < 0) return errno == ENODATA; // removed meanwhile
  ssize_t new = fgetxattr(to_fd, name, room->new, sizeof room->new);
  if (new == old && memcmp(room->old, room->new, (size_t)old) == 0) return true;
  return fsetxattr(to_fd, name, room->old, (size_t)old, 0) == 0;
}

// Truncating counts as a write: the kernel removes the mode bits that a write into the old file would have removed.
static bool copy_mode(mode_t mode, int fd) {
  if (fchmod(fd, mode) < 0) return false;
  return (mode & (S_ISUID | S_ISGID)) == 0 || ftruncate(fd, 0) == 0 || fchmod(fd, mode & 01777) == 0;
}

static bool cannot_keep(const char *what, const char *path, struct rd_error *error) {
  rd_error_set_errno(error, RD_CODE_SINK_UNWRITABLE,
                     "cannot keep the %.100s of %.300s (to write into the old file, use the command 'cat > FILE')",
                     what, path);
  return false;
}
