// SPDX-License-Identifier: Apache-2.0
#include "entry/target_path.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "entry/root.h"

#include <fcntl.h>
#include <sys/stat.h>

static size_t without_slashes(const char *path, size_t count);
static bool names_a_directory(const char *path);
static bool open_into(struct rd_target *target, bool make_parents, struct rd_error *error);
static bool open_path(struct rd_target *target);
static bool is_there(const char *path);
static bool open_as(struct rd_target *target, bool make_parents, struct rd_error *error);
static char *parent_of(const char *path);
static bool missing(const char *path, struct rd_error *error);
static bool unusable(const char *path, struct rd_error *error);

enum rd_target_mode rd_target_place(const char *path, bool is_only_file) {
  struct stat status;
  if (!is_only_file || names_a_directory(path)) return RD_PLACE_INTO;
  RD_AUTO_FREE char *whole = rd_home_path(path);
  bool is_directory = whole == NULL || (rd_root_stat(whole, &status) && S_ISDIR(status.st_mode));
  return is_directory ? RD_PLACE_INTO : RD_PLACE_AS;
}

bool rd_target_open(struct rd_target *target, const char *path, enum rd_target_mode place, bool make_parents,
                    struct rd_error *error) {
  *target = (struct rd_target){.place = place, .path = rd_home_path(path), .directory_fd = -1};
  if (target->path == NULL) return unusable(path, error);
  target->path[without_slashes(target->path, strlen(target->path))] = '\0';
  bool is_open = place == RD_PLACE_INTO ? open_into(target, make_parents, error) : open_as(target, make_parents, error);
  if (!is_open) rd_target_close(target);
  return is_open;
}

void rd_target_close(struct rd_target *target) {
  if (target == NULL) return;
  rd_cleanup_fd(&target->directory_fd);
  free(target->path);
  target->path = NULL;
  target->name = NULL;
}

char *rd_target_directory_path(const struct rd_target *target) {
  size_t count = target->name == NULL ? strlen(target->path) : (size_t)(target->name - target->path);
  return count == 0 ? rd_memory_copy(".", 1) : rd_memory_copy(target->path, count);
}

// Returns the length of a path without the slashes at its end; "/" keeps its slash.
static size_t without_slashes(const char *path, size_t count) {
  while (count > 1 && path[count - 1] == '/') count--;
  return count;
}

// Returns true if the path is written as that of a directory: `~`, or with a last component that is empty, `.` or `..`.
static bool names_a_directory(const char *path) {
  const char *slash = strrchr(path, '/'), *last = slash == NULL ? path : slash + 1;
  return strcmp(last, "") == 0 || strcmp(last, ".") == 0 || strcmp(last, "..") == 0 || strcmp(path, "~") == 0;
}

static bool open_into(struct rd_target *target, bool make_parents, struct rd_error *error) {
  struct stat status;
  if (open_path(target)) return true;
  if (errno != ENOENT) return unusable(target->path, error);
  // Another host with the same file system has just made it, or it is a dangling link, which cannot become a directory.
  if (is_there(target->path)) return open_path(target) || unusable(target->path, error);
  RD_AUTO_FREE char *parent = parent_of(target->path);
  if (rd_root_stat(parent, &status)) {
    errno = ENOTDIR;
    return S_ISDIR(status.st_mode) || unusable(parent, error);
  }
  if (errno != ENOENT) return unusable(parent, error);
  return make_parents || missing(parent, error);
}

// Returns false, with errno.
static bool open_path(struct rd_target *target) {
  target->directory_fd = rd_root_open(target->path, O_PATH | O_DIRECTORY);
  return target->directory_fd >= 0;
}

static bool is_there(const char *path) {
  RD_AUTO_CLOSE int fd = rd_root_open(path, O_PATH | O_NOFOLLOW);
  return fd >= 0;
}

static bool open_as(struct rd_target *target, bool make_parents, struct rd_error *error) {
  const char *slash = strrchr(target->path, '/');
  target->name = slash == NULL ? target->path : slash + 1;
  RD_AUTO_FREE char *parent = parent_of(target->path);
  target->directory_fd = rd_root_open(parent, O_PATH | O_DIRECTORY);
  if (target->directory_fd >= 0) return true;
  if (errno != ENOENT) return unusable(parent, error);
  return make_parents || missing(parent, error);
}

// Returns "." for a path of one component. The caller frees it.
static char *parent_of(const char *path) {
  const char *slash = strrchr(path, '/');
  if (slash == NULL) return rd_memory_copy(".", 1);
  return rd_memory_copy(path, slash == path ? 1 : without_slashes(path, (size_t)(slash - path)));
}

static bool missing(const char *path, struct rd_error *error) {
  rd_error_set(error, RD_CODE_SINK_UNWRITABLE, "the directory %.400s does not exist (to create it, use --mkpath)",
               path);
  return false;
}

static bool unusable(const char *path, struct rd_error *error) {
  rd_error_set_errno(error, RD_CODE_SINK_UNWRITABLE, "cannot copy into %.400s", path);
  return false;
}
