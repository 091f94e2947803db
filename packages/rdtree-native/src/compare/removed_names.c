// SPDX-License-Identifier: Apache-2.0
#include "compare/removed_names.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "compare/name_set.h"
#include "compare/partial.h"
#include "entry/partial_name.h"
#include "pattern/pattern.h"
#include "report/events.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

struct rd_removed_names {
  struct rd_patterns *patterns;
  struct rd_name_set **levels; // [0]: of the target directory itself, also while the stream is in a source `dir/`
  size_t count, room;
  bool has_top;      // the contents of a directory went into the target directory
  bool is_top_whole; // of all of them
};

static bool is_top(const struct rd_removed_names *removal);
static struct rd_name_set *present(const struct rd_removed_names *removal);
static void push(struct rd_removed_names *removal, struct rd_name_set *names);
static void cleanup_listing(DIR **listing);
static DIR *open_listing(int directory_fd);
static bool is_own(const struct rd_removed_names *removal, int fd, const char *name);
static bool is_directory_entry(int fd, const struct dirent *entry);
static bool is_excluded(const struct rd_removed_names *removal, const struct rd_target_tree *tree, struct rd_bytes name,
                        bool is_directory);
static void report(const struct rd_target_tree *tree);

struct rd_removed_names *rd_removed_names_create(const struct rd_tree_settings *settings, struct rd_error *error) {
  struct rd_patterns *patterns = rd_patterns_create(settings, error);
  if (patterns == NULL) return NULL;
  struct rd_removed_names *removal = rd_memory_new(1, sizeof *removal);
  removal->patterns = patterns;
  removal->is_top_whole = true;
  push(removal, rd_name_set_create());
  return removal;
}

void rd_removed_names_destroy(struct rd_removed_names *removal) {
  if (removal == NULL) return;
  while (removal->count > 1) rd_removed_names_leave(removal, false);
  rd_name_set_destroy(removal->levels[0]);
  rd_patterns_destroy(removal->patterns);
  free(removal->levels);
  free(removal);
}

bool rd_removed_names_note(struct rd_removed_names *removal, struct rd_bytes name, bool is_directory,
                           struct rd_error *error) {
  if (is_directory && is_top(removal) && rd_name_set_has(present(removal), name)) {
    rd_error_set(
        error, RD_CODE_INTERNAL,
        "two sources have %.*s: with --delete each would remove the other's files (copy them to separate targets)",
        (int)name.count, (const char *)name.at);
    return false;
  }
  rd_name_set_add(present(removal), name);
  return true;
}

void rd_removed_names_note_partial(struct rd_removed_names *removal, struct rd_bytes name) {
  char partial[RD_PARTIAL_NAME_BYTES];
  rd_partial_name(name, partial);
  rd_name_set_add(present(removal), rd_bytes_of(partial));
}

void rd_removed_names_enter(struct rd_removed_names *removal, struct rd_bytes name) {
  if (name.count == 0) removal->has_top = true;
  push(removal, name.count == 0 ? removal->levels[0] : rd_name_set_create());
}

void rd_removed_names_leave(struct rd_removed_names *removal, bool is_whole) {
  if (is_top(removal)) removal->is_top_whole = removal->is_top_whole && is_whole;
  struct rd_name_set *left = removal->levels[--removal->count];
  if (left != removal->levels[0]) rd_name_set_destroy(left);
}

bool rd_removed_names_list(struct rd_removed_names *removal, const struct rd_target_tree *tree, bool is_whole,
                           rd_removed_names_found *found, void *context, bool *has_failed, struct rd_error *error) {
  bool is_end = removal->count == 1;
  *has_failed = false;
  if (!is_whole || (is_end ? !removal->has_top || !removal->is_top_whole : is_top(removal))) return true;
  int fd = rd_target_tree_fd(tree);
  if (fd < 0) return true; // a new directory
  RD_AUTO(cleanup_listing) DIR *listing = open_listing(fd);
  const struct dirent *entry = NULL;
  if (listing != NULL) errno = 0;
  for (; listing != NULL && (entry = readdir(listing)) != NULL; errno = 0) {
    struct rd_bytes name = rd_bytes_of(entry->d_name);
    if (!rd_name_is_valid(name) || rd_name_set_has(present(removal), name) || is_own(removal, fd, entry->d_name))
      continue;
    bool is_directory = is_directory_entry(fd, entry);
    if (is_excluded(removal, tree, name, is_directory)) continue;
    if (!found(context, name, is_directory, error)) return false;
  }
  *has_failed = errno != 0;
  if (*has_failed) report(tree);
  return true;
}

static bool is_top(const struct rd_removed_names *removal) {
  return present(removal) == removal->levels[0];
}

static struct rd_name_set *present(const struct rd_removed_names *removal) {
  return removal->levels[removal->count - 1];
}

static void push(struct rd_removed_names *removal, struct rd_name_set *names) {
  if (removal->count == removal->room) {
    removal->room = 2 * removal->room + 16;
    removal->levels = rd_memory_resize(removal->levels, removal->room, sizeof *removal->levels);
  }
  removal->levels[removal->count++] = names;
}

static void cleanup_listing(DIR **listing) {
  if (*listing != NULL) closedir(*listing);
}

static DIR *open_listing(int directory_fd) {
  RD_AUTO_CLOSE int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *listing = fd < 0 ? NULL : fdopendir(fd);
  if (listing != NULL) (void)rd_take_fd(&fd);
  return listing;
}

// A file of a copy that runs, of this one or another: its journals and temporary files, and a partial file that is
// locked. One that no copy works on is like any other name.
static bool is_own(const struct rd_removed_names *removal, int fd, const char *name) {
  if (rd_name_is_partial(rd_bytes_of(name))) return !rd_partial_is_free(fd, name);
  return rd_name_is_of_copy(rd_bytes_of(name), is_top(removal));
}

static bool is_directory_entry(int fd, const struct dirent *entry) {
  struct stat status;
  if (entry->d_type != DT_UNKNOWN) return entry->d_type == DT_DIR;
  return fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

static bool is_excluded(const struct rd_removed_names *removal, const struct rd_target_tree *tree, struct rd_bytes name,
                        bool is_directory) {
  RD_AUTO_FREE char *path = rd_target_tree_path_in_source(tree, name);
  return rd_patterns_exclude(removal->patterns, rd_bytes_of(path), is_directory);
}

static void report(const struct rd_target_tree *tree) {
  int number = errno;
  RD_AUTO_FREE char *path = rd_target_tree_shown_path(tree, (struct rd_bytes){0});
  rd_events_failed(path, number, "nothing is removed there: cannot list it");
}
