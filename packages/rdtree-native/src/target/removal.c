// SPDX-License-Identifier: Apache-2.0
#include "target/removal.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "pattern/pattern.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

// One pass over entries and everything below them, which counts or removes them.
struct pass {
  struct rd_write *write;
  const struct rd_directory *top; // NULL: no events
  bool is_counting;
  uint64_t count, most; // the pass ends when there are more than `most`
  char *path;           // of the current entry, for messages: one buffer for all levels, since a tree may be deep
  size_t path_bytes, room;
  unsigned depth;
  size_t source_at; // in the path: what patterns match begins here
  uint64_t kept;    // excluded entries, which stay in directories that the source lacks
};

static bool run_pass(struct pass *pass, struct rd_deferred *list, struct rd_error *error);
static bool visit(struct pass *pass, int directory, const char *name);
static bool is_excluded(const struct pass *pass, bool is_directory);
static bool visit_below(struct pass *pass, int fd, dev_t device);
static bool visit_entry(struct pass *pass, int directory, const char *name);
static bool remove_one(struct pass *pass, int directory, const char *name, bool is_directory);
static bool fail(struct pass *pass, int number, const char *text);
static void set_path(struct pass *pass, size_t kept, const char *name);

bool rd_removal_add(struct rd_deferred *list, const struct rd_directory *directory, const char *name,
                    struct rd_error *error) {
  uint32_t source;
  RD_AUTO_FREE char *path = rd_directory_below_top(directory, name);
  RD_AUTO_FREE char *below = rd_directory_below_source(directory, name, &source);
  size_t below_bytes = strlen(below), path_bytes = strlen(path);
  RD_AUTO_FREE unsigned char *text = rd_memory_new(path_bytes + sizeof below_bytes, 1);
  memcpy(text, path, path_bytes);
  memcpy(text + path_bytes, &below_bytes, sizeof below_bytes);
  return rd_deferred_add(list, text, path_bytes + sizeof below_bytes, error);
}

bool rd_removal_run(struct rd_write *write, struct rd_deferred *list, const struct rd_directory *top,
                    struct rd_error *error) {
  struct pass counting = {.write = write, .top = top, .is_counting = true, .most = UINT64_MAX};
  char text[160];
  // Without a limit there is no need to count.
  if (write->settings->remove_most != UINT64_MAX) {
    if (!run_pass(&counting, list, error)) return false;
    if (counting.count > write->settings->remove_most) {
      snprintf(text, sizeof text, "%" PRIu64 " to remove exceed --max-delete %" PRIu64 ": nothing was removed",
               counting.count, write->settings->remove_most);
      rd_write_failed(write, -1, write->settings->target, 0, text);
      return true;
    }
  }
  struct pass removing = {.write = write, .top = top, .most = UINT64_MAX};
  bool is_done = run_pass(&removing, list, error);
  if (removing.kept > 0)
    rd_events_warning("kept %" PRIu64 " excluded path%s in directories that the source does not have", removing.kept,
                      removing.kept == 1 ? "" : "s");
  return is_done;
}

bool rd_remove_in_the_way(const struct rd_directory *parent, const char *name) {
  struct rd_write *write = parent->write;
  int directory = parent->fd;
  uint32_t source;
  if (unlinkat(directory, name, AT_REMOVEDIR) == 0) return true;
  if ((errno != ENOTEMPTY && errno != EEXIST) || !write->settings->remove) return false;
  pthread_mutex_lock(&write->lock);
  uint64_t removed = write->totals.removed, most = write->settings->remove_most;
  pthread_mutex_unlock(&write->lock);
  struct pass counting = {.write = write, .is_counting = true, .most = most};
  if (most != UINT64_MAX) counting.most = most - (removed < most ? removed : most);
  struct pass removing = {.write = write, .most = UINT64_MAX};
  RD_AUTO_FREE char *path = rd_directory_below_source(parent, name, &source);
  set_path(&counting, 0, path);
  set_path(&removing, 0, path);
  bool is_removed =
      visit(&counting, directory, name) && counting.count <= counting.most && visit(&removing, directory, name);
  free(counting.path);
  free(removing.path);
  if (is_removed) return true;
  errno = ENOTEMPTY;
  return false;
}

static bool run_pass(struct pass *pass, struct rd_deferred *list, struct rd_error *error) {
  const unsigned char *bytes;
  size_t count;
  if (!rd_deferred_rewind(list, error)) return false;
  while (!atomic_load(&pass->write->is_stopped) && rd_deferred_next(list, &bytes, &count, error)) {
    size_t below_bytes, path_bytes = count - sizeof below_bytes;
    memcpy(&below_bytes, bytes + path_bytes, sizeof below_bytes);
    RD_AUTO_FREE char *below = rd_memory_copy((const char *)bytes, path_bytes);
    RD_AUTO_FREE char *path = rd_directory_path(pass->top, below);
    set_path(pass, 0, path);
    pass->source_at = strlen(path) - below_bytes;
    char *slash = strrchr(below, '/'), *name = slash == NULL ? below : slash + 1;
    if (slash != NULL) *slash = '\0';
    RD_AUTO_CLOSE int directory = rd_open_below(pass->top->fd, slash == NULL ? "" : below);
    if (directory >= 0)
      (void)visit(pass, directory, name);
    else if (errno != ENOENT)
      (void)fail(pass, errno, "cannot remove it");
    rd_write_progress(pass->write, path, false);
  }
  free(pass->path);
  pass->path = NULL;
  return atomic_load(&pass->write->is_stopped) || error->code == RD_CODE_OK;
}

// Returns false if part of the entry remains.
static bool visit(struct pass *pass, int directory, const char *name) {
  struct stat now, parent;
  uint64_t kept = pass->kept;
  if (fstatat(directory, name, &now, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
    return errno == ENOENT || fail(pass, errno, "cannot remove it");
  if (is_excluded(pass, S_ISDIR(now.st_mode))) {
    pass->kept++;
    return false;
  }
  pass->count++;
  if (pass->count > pass->most) return false;
  if (!S_ISDIR(now.st_mode)) return pass->is_counting || remove_one(pass, directory, name, false);
  if (fstat(directory, &parent) < 0 || parent.st_dev != now.st_dev)
    return fail(pass, EXDEV, "another file system is mounted there");
  if (pass->depth == RD_DEPTH_MAX) return fail(pass, 0, "it is too deep in the tree");
  int fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return fail(pass, errno, "cannot remove it");
  if (!visit_below(pass, fd, now.st_dev)) {
    if (pass->kept > kept && pass->count <= pass->most) pass->count--; // this directory stays
    return false;
  }
  return pass->is_counting || remove_one(pass, directory, name, true);
}

// The first name, at depth 0, was checked with the request.
static bool is_excluded(const struct pass *pass, bool is_directory) {
  struct rd_bytes path = {(const unsigned char *)pass->path + pass->source_at, pass->path_bytes - pass->source_at};
  return pass->depth > 0 && rd_patterns_exclude(pass->write->patterns, path, is_directory);
}

// Takes ownership of `fd`.
static bool visit_below(struct pass *pass, int fd, dev_t device) {
  struct stat now;
  DIR *names = fstat(fd, &now) == 0 && now.st_dev == device ? fdopendir(fd) : NULL;
  if (names == NULL) {
    int number = errno;
    close(fd);
    return fail(pass, number, "cannot remove it");
  }
  bool is_empty = true;
  for (const struct dirent *entry; (entry = readdir(names)) != NULL && pass->count <= pass->most;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    is_empty = visit_entry(pass, fd, entry->d_name) && is_empty;
  }
  closedir(names);
  return is_empty;
}

static bool visit_entry(struct pass *pass, int directory, const char *name) {
  size_t kept = pass->path_bytes;
  set_path(pass, kept, name);
  pass->depth++;
  bool is_gone = visit(pass, directory, name);
  pass->depth--;
  set_path(pass, kept, NULL);
  return is_gone;
}

static bool remove_one(struct pass *pass, int directory, const char *name, bool is_directory) {
  if (unlinkat(directory, name, is_directory ? AT_REMOVEDIR : 0) < 0)
    return errno == ENOENT || fail(pass, errno, "cannot remove it");
  rd_write_count(pass->write, &(struct rd_tree_totals){.removed = 1});
  if (pass->top != NULL && pass->write->settings->paths) rd_events_path(RD_ACTION_REMOVED, pass->path, 0);
  return true;
}

// Reports nothing while counting, because removing fails again. Always returns false.
static bool fail(struct pass *pass, int number, const char *text) {
  if (!pass->is_counting && pass->top != NULL) rd_write_failed(pass->write, pass->top->fd, pass->path, number, text);
  return false;
}

// Keeps the first `kept` bytes, and appends `name` (NULL: nothing).
static void set_path(struct pass *pass, size_t kept, const char *name) {
  size_t count = name == NULL ? 0 : strlen(name), needed = kept + 1 + count + 1;
  if (needed > pass->room) pass->path = rd_memory_resize(pass->path, pass->room = 2 * needed, 1);
  if (name != NULL && kept > 0) pass->path[kept++] = '/';
  if (name != NULL) memcpy(pass->path + kept, name, count);
  pass->path_bytes = kept + count;
  pass->path[pass->path_bytes] = '\0';
}
