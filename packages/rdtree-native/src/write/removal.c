// SPDX-License-Identifier: Apache-2.0
#include "write/removal.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

// One pass over entries and all that is below them: it counts them, or removes them.
struct pass {
  struct rd_write *write;
  const struct rd_directory *top; // NULL: without events
  bool is_counting;
  uint64_t count, most; // it ends when there are more
};

static bool run_pass(struct pass *pass, struct rd_deferred *list, struct rd_error *error);
static bool visit(struct pass *pass, int directory, const char *name, const char *path);
static bool visit_below(struct pass *pass, int fd, dev_t device, const char *path);
static bool remove_one(struct pass *pass, int directory, const char *name, const char *path, bool is_directory);
static bool fail(struct pass *pass, const char *path, int number, const char *text);
static char *join(const char *path, const char *name);

bool rd_removal_add(struct rd_deferred *list, const struct rd_directory *directory, const char *name,
                    struct rd_error *error) {
  RD_AUTO_FREE char *path = rd_directory_below_top(directory, name);
  return rd_deferred_add(list, path, strlen(path), error);
}

bool rd_removal_run(struct rd_write *write, struct rd_deferred *list, const struct rd_directory *top,
                    struct rd_error *error) {
  struct pass counting = {write, top, true, 0, UINT64_MAX};
  char text[160];
  // Without a limit nothing is counted.
  if (write->settings->remove_most != UINT64_MAX) {
    if (!run_pass(&counting, list, error)) return false;
    if (counting.count > write->settings->remove_most) {
      snprintf(text, sizeof text, "%" PRIu64 " to remove exceed --max-delete %" PRIu64 ": nothing was removed",
               counting.count, write->settings->remove_most);
      rd_write_failed(write, -1, write->settings->target, 0, text);
      return true;
    }
  }
  struct pass removing = {write, top, false, 0, UINT64_MAX};
  return run_pass(&removing, list, error);
}

bool rd_remove_in_the_way(struct rd_write *write, int directory, const char *name) {
  if (unlinkat(directory, name, AT_REMOVEDIR) == 0) return true;
  if ((errno != ENOTEMPTY && errno != EEXIST) || !write->settings->remove) return false;
  pthread_mutex_lock(&write->lock);
  uint64_t removed = write->totals.removed, most = write->settings->remove_most;
  pthread_mutex_unlock(&write->lock);
  struct pass pass = {write, NULL, true, 0, most == UINT64_MAX ? most : most - (removed < most ? removed : most)};
  bool may_be_removed = visit(&pass, directory, name, "") && pass.count <= pass.most;
  pass = (struct pass){write, NULL, false, 0, UINT64_MAX};
  if (may_be_removed && visit(&pass, directory, name, "")) return true;
  errno = ENOTEMPTY;
  return false;
}

static bool run_pass(struct pass *pass, struct rd_deferred *list, struct rd_error *error) {
  const unsigned char *bytes;
  size_t count;
  if (!rd_deferred_rewind(list, error)) return false;
  while (!atomic_load(&pass->write->is_stopped) && rd_deferred_next(list, &bytes, &count, error)) {
    RD_AUTO_FREE char *below = rd_memory_copy((const char *)bytes, count);
    RD_AUTO_FREE char *path = rd_directory_path(pass->top, below);
    char *slash = strrchr(below, '/'), *name = slash == NULL ? below : slash + 1;
    if (slash != NULL) *slash = '\0';
    RD_AUTO_CLOSE int directory = rd_open_below(pass->top->fd, slash == NULL ? "" : below);
    if (directory >= 0)
      (void)visit(pass, directory, name, path);
    else if (errno != ENOENT)
      (void)fail(pass, path, errno, "cannot remove it");
    rd_write_progress(pass->write, path, false);
  }
  return atomic_load(&pass->write->is_stopped) || error->code == RD_CODE_OK;
}

// False: something of it stays.
static bool visit(struct pass *pass, int directory, const char *name, const char *path) {
  struct stat now, parent;
  if (fstatat(directory, name, &now, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
    return errno == ENOENT || fail(pass, path, errno, "cannot remove it");
  pass->count++;
  if (pass->count > pass->most) return false;
  if (!S_ISDIR(now.st_mode)) return pass->is_counting || remove_one(pass, directory, name, path, false);
  if (fstat(directory, &parent) < 0 || parent.st_dev != now.st_dev)
    return fail(pass, path, EXDEV, "another file system is mounted there");
  int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return fail(pass, path, errno, "cannot remove it");
  if (!visit_below(pass, fd, now.st_dev, path)) return false;
  return pass->is_counting || remove_one(pass, directory, name, path, true);
}

// Takes `fd`.
static bool visit_below(struct pass *pass, int fd, dev_t device, const char *path) {
  struct stat now;
  DIR *names = fstat(fd, &now) == 0 && now.st_dev == device ? fdopendir(fd) : NULL;
  if (names == NULL) {
    close(fd);
    return fail(pass, path, errno, "cannot remove it");
  }
  bool is_empty = true;
  for (const struct dirent *entry; (entry = readdir(names)) != NULL && pass->count <= pass->most;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    RD_AUTO_FREE char *below = join(path, entry->d_name);
    is_empty = visit(pass, fd, entry->d_name, below) && is_empty;
  }
  closedir(names);
  return is_empty;
}

static bool remove_one(struct pass *pass, int directory, const char *name, const char *path, bool is_directory) {
  if (unlinkat(directory, name, is_directory ? AT_REMOVEDIR : 0) < 0)
    return errno == ENOENT || fail(pass, path, errno, "cannot remove it");
  rd_write_count(pass->write, &(struct rd_tree_totals){.removed = 1});
  if (pass->top != NULL && pass->write->settings->paths) rd_events_path(RD_ACTION_REMOVED, path, 0);
  return true;
}

// While counting nothing is reported: removing will meet it again. False always.
static bool fail(struct pass *pass, const char *path, int number, const char *text) {
  if (!pass->is_counting && pass->top != NULL) rd_write_failed(pass->write, pass->top->fd, path, number, text);
  return false;
}

static char *join(const char *path, const char *name) {
  size_t bytes = strlen(path) + strlen(name) + 2;
  char *joined = rd_memory_new(bytes, 1);
  snprintf(joined, bytes, "%s/%s", path, name);
  return joined;
}
