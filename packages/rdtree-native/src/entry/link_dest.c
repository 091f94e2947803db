// SPDX-License-Identifier: Apache-2.0
#include "entry/link_dest.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "entry/root.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

_Static_assert(RD_SETTINGS_LINK_DESTS_MAX == RD_LINK_DESTS_MAX, "settings and records have the same limit");

static int open_one(const char *name, const char *target, struct rd_error *error);
static char *path_of(const char *name, const char *target, struct stat *above);
static bool is_absolute(const char *name);
static bool go_up(char *directory, const char **rest);

bool rd_link_dests_open(const struct rd_tree_settings *settings, enum rd_target_mode place, int *fds,
                        struct rd_error *error) {
  struct rd_target target;
  if (settings->link_dest_count == 0) return true;
  if (!rd_target_open(&target, settings->target, place, settings->make_parents, error)) return false;
  RD_AUTO_FREE char *directory = rd_target_directory_path(&target);
  rd_target_close(&target);
  size_t count = 0;
  while (count < settings->link_dest_count &&
         (fds[count] = open_one(settings->link_dests[count], directory, error)) >= 0)
    count++;
  if (count == settings->link_dest_count) return true;
  while (count > 0) rd_cleanup_fd(&fds[--count]);
  return false;
}

static int open_one(const char *name, const char *target, struct rd_error *error) {
  struct stat above, status;
  RD_AUTO_FREE char *path = path_of(name, target, &above);
  RD_AUTO_CLOSE int fd = path == NULL ? -1 : rd_root_open(path, O_PATH | O_DIRECTORY);
  if (fd < 0 || fstat(fd, &status) < 0) {
    rd_error_set_errno(error, RD_CODE_SINK_UNWRITABLE, "cannot open the directory %.200s of --link-dest%s%.200s", name,
                       is_absolute(name) ? "" : ", relative to ", is_absolute(name) ? "" : target);
    return -1;
  }
  if (status.st_dev != above.st_dev) {
    rd_error_set(
        error, RD_CODE_SINK_UNWRITABLE,
        "%.200s of --link-dest is on another file system than the target %.200s (hard links need the same one)", name,
        target);
    return -1;
  }
  return rd_take_fd(&fd);
}

// Directories of the target that are missing cannot be opened, so `..` at the beginning of `name` goes up from them
// here. Returns NULL, with errno, if that leads nowhere. *above: the part of the target that is there.
static char *path_of(const char *name, const char *target, struct stat *above) {
  RD_AUTO_FREE char *directory = rd_memory_copy(target, strlen(target));
  const char *rest = name;
  bool leads_up = true;
  while (!rd_root_stat(directory, above)) {
    if (errno != ENOENT || strcmp(directory, ".") == 0) return NULL;
    leads_up = go_up(directory, &rest) && leads_up;
  }
  if (is_absolute(name)) return rd_home_path(name);
  errno = ENOENT;
  if (!leads_up) return NULL;
  size_t bytes = strlen(directory) + strlen(rest) + 2;
  char *path = rd_memory_new(bytes, 1);
  snprintf(path, bytes, "%s/%s", directory, rest);
  return path;
}

static bool is_absolute(const char *name) {
  return *name == '/' || (*name == '~' && (name[1] == '/' || name[1] == '\0'));
}

// Cuts off the last name of `directory`, which then is "." or "/" if it was the only one. False: *rest does not begin
// with `..`, which is also cut off.
static bool go_up(char *directory, const char **rest) {
  size_t count = strlen(directory);
  while (count > 1 && directory[count - 1] == '/') count--;
  directory[count] = '\0';
  while (count > 0 && directory[count - 1] != '/') count--;
  bool leads_up =
      strncmp(*rest, "..", 2) == 0 && ((*rest)[2] == '/' || (*rest)[2] == '\0') && strcmp(directory + count, "..") != 0;
  if (count == 0) directory[count++] = '.';
  directory[count] = '\0';
  if (!leads_up) return false;
  *rest += 2;
  *rest += strspn(*rest, "/");
  return true;
}
