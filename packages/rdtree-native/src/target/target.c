// SPDX-License-Identifier: Apache-2.0
#include "target/target.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "entry/root.h"
#include "entry/target_path.h"

#include <errno.h>
#include <fcntl.h>

static bool make_directories(const struct rd_write *write, const char *path, bool *is_new, struct rd_error *error);
static char *shown_of(const char *given, enum rd_target_mode place);
static bool unusable(const char *path, struct rd_error *error);

struct rd_directory *rd_write_target(struct rd_write *write, enum rd_target_mode place, char **name,
                                     struct rd_error *error) {
  const struct rd_tree_settings *settings = write->settings;
  struct rd_target target;
  bool is_new = false;
  if (!rd_target_open(&target, settings->target, place, settings->make_parents, error)) return NULL;
  RD_AUTO_FREE char *path = rd_target_directory_path(&target);
  *name = target.name == NULL ? NULL : rd_memory_copy(target.name, strlen(target.name));
  bool is_there = target.directory_fd >= 0 || make_directories(write, path, &is_new, error);
  rd_target_close(&target);
  RD_AUTO_CLOSE int fd = is_there ? rd_root_open(path, O_RDONLY | O_DIRECTORY) : -1;
  if (fd < 0) {
    if (is_there) (void)unusable(path, error);
    return NULL;
  }
  RD_AUTO_FREE char *shown = shown_of(settings->target, place);
  return rd_directory_create(write, NULL, shown, rd_take_fd(&fd), is_new);
}

// Creates the directory and its parents; rd_target_open() has checked that the settings allow it.
static bool make_directories(const struct rd_write *write, const char *path, bool *is_new, struct rd_error *error) {
  RD_AUTO_FREE char *part = rd_memory_copy(path, strlen(path));
  for (char *end = part; *end != '\0';) {
    end += strspn(end, "/");
    end += strcspn(end, "/");
    char kept = *end;
    *end = '\0';
    *is_new = rd_root_mkdir(part, 0777 & ~write->umask);
    if (!*is_new && errno != EEXIST && (kept == '\0' || errno != EROFS)) return unusable(part, error);
    *end = kept;
    if (kept == '/' && end[strspn(end, "/")] == '\0') break;
  }
  return true;
}

// Returns the path as the user wrote it; for RD_PLACE_AS, that of its directory.
static char *shown_of(const char *given, enum rd_target_mode place) {
  size_t count = strlen(given);
  if (place == RD_PLACE_AS) {
    const char *slash = strrchr(given, '/');
    return rd_memory_copy(given, slash == NULL ? 0 : (size_t)(slash + 1 - given));
  }
  while (count > 1 && given[count - 1] == '/') count--;
  return rd_memory_copy(given, count);
}

static bool unusable(const char *path, struct rd_error *error) {
  rd_error_set_errno(error, RD_CODE_SINK_UNWRITABLE, "cannot write in the directory %.400s", path);
  return false;
}
