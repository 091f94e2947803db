// SPDX-License-Identifier: Apache-2.0
#include "scan/walk.h"

#include "base/memory.h"
#include "entry/metadata.h"
#include "entry/partial_name.h"
#include "scan/names.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A directory that was entered. The names of its subdirectories wait in memory while one of them is walked, so they are
// read in limited portions.
struct level {
  struct level *above;
  struct rd_names directories; // subdirectories among the names that were read last
  size_t next;
  bool is_read; // all names were read
  bool is_whole;
};

static bool walk_below(struct rd_scan *scan, struct level *top, struct level *last, struct rd_error *error);
static bool enter(struct rd_scan *scan, const char *name, const struct statx *status, struct level **top,
                  struct rd_error *error);
static bool leave(struct rd_scan *scan, struct level **top, struct rd_error *error);
static bool read_names(struct rd_scan *scan, struct level *level, struct rd_error *error);
static bool is_target(struct rd_scan *scan);
static bool send_plain(struct rd_scan *scan, struct rd_names *names, struct rd_error *error);
static bool send_unless_directory(struct rd_scan *scan, struct rd_names *names, size_t index, struct rd_error *error);
static bool enter_next(struct rd_scan *scan, struct level **top, struct rd_error *error);

bool rd_walk_may_enter(struct rd_scan *scan, const char *name, bool *is_sent, struct rd_error *error) {
  *is_sent = true;
  if (rd_source_dirs_depth(scan->directories) < RD_DEPTH_MAX) return true;
  *is_sent = rd_send_failed(scan, name, 0, "it is too deep in the tree", error);
  return false;
}

bool rd_walk(struct rd_scan *scan, const char *name, const struct statx *status, struct rd_error *error) {
  struct level *top = NULL;
  return enter(scan, name, status, &top, error) && walk_below(scan, top, NULL, error);
}

bool rd_walk_rest(struct rd_scan *scan, struct rd_error *error) {
  struct level own = {.is_whole = true};
  int fd = rd_source_dirs_fd(scan->directories);
  return fd < 0 || lseek(fd, 0, SEEK_SET) < 0 || walk_below(scan, &own, &own, error);
}

// Walks until `last` is at the top again and was read; NULL: until all are left. Not recursive: a tree may be deeper
// than the stack of a thread allows.
static bool walk_below(struct rd_scan *scan, struct level *top, struct level *last, struct rd_error *error) {
  bool is_right = true;
  while (is_right && top != NULL) {
    if (top->next < top->directories.count)
      is_right = enter_next(scan, &top, error);
    else if (!top->is_read)
      is_right = read_names(scan, top, error);
    else if (top == last)
      break;
    else
      is_right = leave(scan, &top, error);
  }
  while (top != NULL) {
    struct level *above = top->above;
    rd_names_clear(&top->directories);
    if (top != last) free(top);
    top = above;
  }
  return is_right;
}

static bool enter(struct rd_scan *scan, const char *name, const struct statx *status, struct level **top,
                  struct rd_error *error) {
  bool is_sent;
  if (!rd_walk_may_enter(scan, name, &is_sent, error)) return is_sent;
  if (!rd_send_enter(scan, name, status, error)) return false;
  struct level *level = rd_memory_new(1, sizeof *level);
  level->above = *top;
  level->is_whole = true;
  *top = level;
  if (scan->settings->one_file_system && rd_device_of(status) != scan->device) {
    level->is_read = true;
    level->is_whole = false;
    return true;
  }
  if (rd_source_dirs_fd(scan->directories) >= 0) return true;
  rd_send_unreadable(scan, errno);
  level->is_read = true;
  level->is_whole = false;
  return true;
}

static bool leave(struct rd_scan *scan, struct level **top, struct rd_error *error) {
  struct level *left = *top;
  bool is_whole = left->is_whole;
  *top = left->above;
  rd_names_clear(&left->directories);
  free(left);
  return rd_send_leave(scan, is_whole, error);
}

// Sends all other entries at once, and keeps the directories among the names to be entered.
static bool read_names(struct rd_scan *scan, struct level *level, struct rd_error *error) {
  level->next = 0;
  if (!rd_names_read(&level->directories, rd_source_dirs_fd(scan->directories))) {
    rd_send_unreadable(scan, errno);
    level->is_read = true;
    level->is_whole = false;
  }
  if (is_target(scan)) {
    rd_send_refused(scan, "skipped: it is the destination of this copy (--exclude hides this message)");
    level->directories.count = 0;
    level->is_whole = false;
  }
  if (level->directories.count == 0) level->is_read = true;
  bool is_right = send_plain(scan, &level->directories, error);
  rd_names_keep_directories(&level->directories);
  return is_right;
}

// For a copy to this host under another name: the destination under the same name is recognized before it is entered.
static bool is_target(struct rd_scan *scan) {
  bool is_itself =
      rd_source_dirs_depth(scan->directories) == 1 && rd_source_dirs_source_name(scan->directories).count == 0;
  if (is_itself) return false; // source and target are the same directory
  return rd_destination_has_journal(&scan->destination, rd_source_dirs_fd(scan->directories));
}

static bool send_plain(struct rd_scan *scan, struct rd_names *names, struct rd_error *error) {
  bool is_right = true;
  rd_statuses_begin(scan->statuses, rd_source_dirs_fd(scan->directories), names);
  for (size_t i = 0; i < names->count && is_right; i++)
    if (names->at[i].type != DT_DIR) is_right = send_unless_directory(scan, names, i, error);
  rd_statuses_end(scan->statuses);
  return is_right;
}

// Sets the type of a directory, if it was not known.
static bool send_unless_directory(struct rd_scan *scan, struct rd_names *names, size_t index, struct rd_error *error) {
  struct statx status;
  const char *name = rd_names_text(names, index);
  if (!rd_statuses_read(scan->statuses, index, &status)) return rd_send_no_status(scan, name, error);
  if (S_ISDIR(status.stx_mode)) {
    names->at[index].type = DT_DIR;
    return true;
  }
  return rd_send_is_excluded(scan, name, &status) || rd_send_plain(scan, name, &status, error);
}

static bool enter_next(struct rd_scan *scan, struct level **top, struct rd_error *error) {
  struct level *level = *top;
  struct statx status;
  bool is_sent;
  const char *name = rd_names_text(&level->directories, level->next++);
  if (!rd_send_status(scan, name, &status, &is_sent, error)) return is_sent;
  if (rd_send_is_excluded(scan, name, &status)) return true;
  // The journal may have appeared between the listing of names and the first check; its directory is there before it.
  if (strcmp(name, RD_JOURNAL_DIRECTORY) == 0 &&
      (rd_destination_may_begin(rd_source_dirs_fd(scan->directories)) || is_target(scan))) {
    level->is_whole = false;
    return true;
  }
  if (!S_ISDIR(status.stx_mode)) return rd_send_plain(scan, name, &status, error);
  if (rd_destination_is(&scan->destination, &status)) {
    level->is_whole = false;
    if (!scan->destination.is_new) rd_events_warning("DST was not copied, because it is inside SRC");
    return true;
  }
  if (!rd_name_is_valid(rd_bytes_of(name))) return rd_send_failed(scan, name, 0, "its name cannot be copied", error);
  return enter(scan, name, &status, top, error);
}
