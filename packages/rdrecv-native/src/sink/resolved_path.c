// SPDX-License-Identifier: Apache-2.0
#include "sink/resolved_path.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>

#define LINKS_MAX 40
#define OVERFLOW_UID 65534 // the kernel shows this uid for every user outside this user namespace

static bool walk(struct rd_resolved_path *resolved, char **rest, const char *path, struct rd_error *error);
static bool take_component(struct rd_resolved_path *resolved, char *rest);
static int open_component(const struct rd_resolved_path *resolved, bool is_last);
static bool follow_link(struct rd_resolved_path *resolved, int *fd, char **rest);
static int open_kernel_link(struct rd_resolved_path *resolved);
static bool is_for_all(const struct rd_resolved_path *resolved, struct stat *directory);
static bool belongs_to_stranger(const struct rd_resolved_path *resolved, const struct stat *status);
static bool is_refused(const struct rd_resolved_path *resolved, const struct stat *status, bool is_last);
static bool refuse(const struct rd_resolved_path *resolved, const struct stat *status, const char *path,
                   struct rd_error *error);
static bool unwritable(const char *path, struct rd_error *error);

bool rd_resolve_path(struct rd_resolved_path *resolved, const char *path, struct rd_error *error) {
  *resolved =
      (struct rd_resolved_path){.directory_fd = open(path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC)};
  RD_AUTO_FREE char *rest = rd_memory_copy(path, strlen(path));
  if (path[0] == '\0') errno = ENOENT;
  bool begun = resolved->directory_fd >= 0 && path[0] != '\0';
  if (begun ? walk(resolved, &rest, path, error) : unwritable(path, error)) return true;
  rd_resolved_path_close(resolved);
  return false;
}

void rd_resolved_path_close(struct rd_resolved_path *resolved) {
  rd_cleanup_fd(&resolved->directory_fd);
}

int rd_resolved_path_open(const struct rd_resolved_path *resolved, int flags) {
  int no_link = resolved->is_kernels ? 0 : O_NOFOLLOW;
  RD_AUTO_CLOSE int fd = openat(resolved->directory_fd, resolved->name, flags | no_link | O_CLOEXEC | O_NOCTTY, 0666);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) < 0) return -1;
  if (!is_refused(resolved, &status, true)) return rd_take_fd(&fd);
  errno = EACCES;
  return -1;
}

bool rd_resolved_path_is_shared(const struct rd_resolved_path *resolved) {
  struct stat directory;
  return resolved->is_foreign || is_for_all(resolved, &directory);
}

// Walks component by component, so that each link in the path is checked together with its directory.
static bool walk(struct rd_resolved_path *resolved, char **rest, const char *path, struct rd_error *error) {
  for (int links = 0; links <= LINKS_MAX;) {
    if (!take_component(resolved, *rest)) return unwritable(path, error);
    bool is_last = (*rest)[0] == '\0';
    RD_AUTO_CLOSE int fd = open_component(resolved, is_last);
    if (fd < 0) return (is_last && errno == ENOENT) || unwritable(path, error);
    if (fstat(fd, &resolved->status) < 0) return unwritable(path, error);
    bool is_link = S_ISLNK(resolved->status.st_mode);
    if (is_refused(resolved, &resolved->status, is_last)) return refuse(resolved, &resolved->status, path, error);
    if (is_link && !follow_link(resolved, &fd, rest)) return unwritable(path, error);
    links += is_link;
    if (fd < 0) continue; // continue with the link's target
    resolved->exists = is_last;
    if (is_last) return true;
    if (belongs_to_stranger(resolved, &resolved->status)) resolved->is_foreign = true;
    rd_cleanup_fd(&resolved->directory_fd);
    resolved->directory_fd = rd_take_fd(&fd);
  }
  errno = ELOOP;
  return unwritable(path, error);
}

// Moves the first component of `rest` to `resolved->name`.
static bool take_component(struct rd_resolved_path *resolved, char *rest) {
  const char *name = rest + strspn(rest, "/");
  size_t length = strcspn(name, "/");
  errno = length == 0 ? EISDIR : ENAMETOOLONG;
  if (length == 0 || length > NAME_MAX) return false;
  memcpy(resolved->name, name, length);
  resolved->name[length] = '\0';
  resolved->is_kernels = false;
  memmove(rest, name + length, strlen(name + length) + 1);
  return true;
}

// Does not follow links. Opens a directory with O_DIRECTORY, because an automounter mounts it only then.
static int open_component(const struct rd_resolved_path *resolved, bool is_last) {
  int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  int fd = is_last ? -1 : openat(resolved->directory_fd, resolved->name, flags | O_DIRECTORY);
  bool is_directory = fd >= 0 || (!is_last && errno != ENOTDIR);
  return is_directory ? fd : openat(resolved->directory_fd, resolved->name, flags);
}

// Closes *fd, the link, and inserts the link's text before `rest`. For a kernel link, whose text may not name anything,
// *fd becomes its target.
static bool follow_link(struct rd_resolved_path *resolved, int *fd, char **rest) {
  char target[PATH_MAX];
  ssize_t length = readlinkat(*fd, "", target, sizeof target - 1);
  rd_cleanup_fd(fd);
  if (length < 0) return false;
  *fd = open_kernel_link(resolved);
  if (*fd >= 0) return fstat(*fd, &resolved->status) == 0;
  target[length] = '\0';
  char *joined;
  if (asprintf(&joined, "%s%s", target, *rest) < 0) return false;
  free(*rest);
  *rest = joined;
  if (target[0] != '/') return true;
  resolved->is_foreign = false;
  rd_cleanup_fd(&resolved->directory_fd);
  resolved->directory_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  return resolved->directory_fd >= 0;
}

// Opens the target of a kernel link; such links exist only below /proc. Returns -1 if the link is not a kernel link, or
// if its target is a regular file, which is resolved by its name so that it can be replaced in its directory.
static int open_kernel_link(struct rd_resolved_path *resolved) {
  struct statfs system;
  struct stat status;
  if (fstatfs(resolved->directory_fd, &system) < 0 || system.f_type != PROC_SUPER_MAGIC) return -1;
  RD_AUTO_CLOSE int fd = openat(resolved->directory_fd, resolved->name, O_PATH | O_CLOEXEC);
  resolved->is_kernels = fd >= 0 && fstat(fd, &status) == 0 && !S_ISREG(status.st_mode);
  return resolved->is_kernels ? rd_take_fd(&fd) : -1;
}

// Returns true if others may create files in the directory, and none may remove those of another.
static bool is_for_all(const struct rd_resolved_path *resolved, struct stat *directory) {
  if (fstat(resolved->directory_fd, directory) < 0) return true;
  return (directory->st_mode & S_ISVTX) != 0 && (directory->st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

// Returns true if the object is in a directory where others may create files, and belongs to another user. The
// directory's owner is trusted: that user could replace anything there.
static bool belongs_to_stranger(const struct rd_resolved_path *resolved, const struct stat *status) {
  struct stat directory = {.st_uid = OVERFLOW_UID};
  if (!is_for_all(resolved, &directory) || status->st_uid == geteuid()) return false;
  return status->st_uid != directory.st_uid || status->st_uid == OVERFLOW_UID;
}

// A link, and what is written to. Below another user's directory that user's links may lead to any file of this user.
static bool is_refused(const struct rd_resolved_path *resolved, const struct stat *status, bool is_last) {
  bool is_link = S_ISLNK(status->st_mode);
  if (resolved->is_foreign && is_link) return status->st_uid != geteuid() && status->st_uid != 0;
  return (is_link || is_last) && belongs_to_stranger(resolved, status);
}

static bool refuse(const struct rd_resolved_path *resolved, const struct stat *status, const char *path,
                   struct rd_error *error) {
  bool is_link = S_ISLNK(status->st_mode);
  rd_error_set(error, RD_CODE_SINK_UNWRITABLE, "cannot write %.200s: %.80s, %s, is %s of user %u: %s", path,
               resolved->name,
               resolved->is_foreign ? "in another user's part of a shared directory" : "in a shared directory",
               is_link ? "a link" : "a file", status->st_uid,
               is_link ? "name its target instead" : "remove it or choose another name");
  return false;
}

static bool unwritable(const char *path, struct rd_error *error) {
  rd_error_set_errno(error, RD_CODE_SINK_UNWRITABLE, "cannot write %.300s", path);
  return false;
}
