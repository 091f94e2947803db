// SPDX-License-Identifier: Apache-2.0
#include "scan/list.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "entry/list_path.h"
#include "entry/metadata.h"
#include "scan/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The list: the text of the settings, then what comes from `fd`.
struct text {
  const struct rd_tree_settings *settings;
  size_t taken; // of the settings' text
  int fd;
};

static ssize_t read_text(void *context, char *to, size_t room);
static bool send_all(struct rd_scan *scan, FILE *file, struct rd_error *error);
static bool send_path(struct rd_scan *scan, char *path, size_t count, struct rd_error *error);
static bool leave_others(struct rd_scan *scan, const char *path, struct rd_error *error);
static char *rest_of(struct rd_scan *scan, char *path);
static bool enter_parents(struct rd_scan *scan, char *path, char **last, struct rd_error *error);
static bool may_pass(struct rd_scan *scan, const char *name, struct statx *status, bool *is_sent,
                     struct rd_error *error);
static bool send_last(struct rd_scan *scan, const char *name, bool is_directory, struct rd_error *error);
static bool send_directory(struct rd_scan *scan, const char *name, const struct statx *status, struct rd_error *error);
static bool find(struct rd_scan *scan, const char *name, struct statx *status, bool *is_sent, struct rd_error *error);

bool rd_list_send(struct rd_scan *scan, int fd, struct rd_error *error) {
  struct text text = {.settings = scan->settings, .fd = fd};
  FILE *file = fopencookie(&text, "r", (cookie_io_functions_t){.read = read_text});
  if (file == NULL) {
    rd_error_set_errno(error, RD_CODE_SOURCE_UNREADABLE, "cannot read the list of paths");
    return false;
  }
  bool is_sent = send_all(scan, file, error) && leave_others(scan, "", error);
  fclose(file);
  return is_sent;
}

static ssize_t read_text(void *context, char *to, size_t room) {
  struct text *text = context;
  size_t left = text->settings->list_bytes - text->taken;
  if (left == 0) return rd_read_some(text->fd, to, room);
  if (room > left) room = left;
  memcpy(to, text->settings->list_text + text->taken, room);
  text->taken += room;
  return (ssize_t)room;
}

static bool send_all(struct rd_scan *scan, FILE *file, struct rd_error *error) {
  int end = scan->settings->list == RD_LIST_NUL ? '\0' : '\n';
  RD_AUTO_FREE char *path = NULL;
  size_t room = 0;
  for (;;) {
    ssize_t count = getdelim(&path, &room, end, file);
    if (count < 0) break;
    if (path[count - 1] == end) path[--count] = '\0';
    if (count > 0 && !send_path(scan, path, (size_t)count, error)) return false;
  }
  if (!ferror(file)) return true;
  rd_error_set_errno(error, RD_CODE_SOURCE_UNREADABLE, "cannot read the list of paths");
  return false;
}

static bool send_path(struct rd_scan *scan, char *path, size_t count, struct rd_error *error) {
  char *last;
  bool is_directory;
  if (!rd_list_path_simplify(path, count, &is_directory)) {
    // Reported relative to the root of the source.
    return leave_others(scan, "", error) &&
           rd_send_failed(scan, path, 0, "not copied: it is not a path below the source", error);
  }
  if (!leave_others(scan, path, error) || !enter_parents(scan, rest_of(scan, path), &last, error)) return false;
  return last == NULL || send_last(scan, last, is_directory, error);
}

// Leaves the directories that do not contain `path`, but not the source itself; for "" all directories below the
// source.
static bool leave_others(struct rd_scan *scan, const char *path, struct rd_error *error) {
  while (rd_source_dirs_depth(scan->directories) > 1) {
    struct rd_bytes directory = rd_source_dirs_below(scan->directories, (struct rd_bytes){0});
    if (strncmp(path, (const char *)directory.at, directory.count) == 0 && path[directory.count] == '/') break;
    if (!rd_send_leave(scan, false, error)) return false;
  }
  return true;
}

// Returns the part of the path that is below the current directory.
static char *rest_of(struct rd_scan *scan, char *path) {
  struct rd_bytes directory = rd_source_dirs_below(scan->directories, (struct rd_bytes){0});
  return directory.count == 0 ? path : path + directory.count + 1;
}

// *last is the last name, or NULL if one of the directories is excluded or failed; a failure was sent.
static bool enter_parents(struct rd_scan *scan, char *path, char **last, struct rd_error *error) {
  *last = NULL;
  for (char *slash; (slash = strchr(path, '/')) != NULL; path = slash + 1) {
    struct statx status;
    bool is_sent;
    *slash = '\0';
    if (!may_pass(scan, path, &status, &is_sent, error)) return is_sent;
    if (!rd_send_enter(scan, path, &status, error)) return false;
    if (rd_source_dirs_fd(scan->directories) >= 0) continue;
    rd_send_unreadable(scan, errno);
    return rd_send_leave(scan, false, error);
  }
  *last = path;
  return true;
}

static bool may_pass(struct rd_scan *scan, const char *name, struct statx *status, bool *is_sent,
                     struct rd_error *error) {
  if (!find(scan, name, status, is_sent, error) || !rd_walk_may_enter(scan, name, is_sent, error)) return false;
  *is_sent = true;
  if (rd_send_is_excluded(scan, name, status)) return false;
  if (!S_ISDIR(status->stx_mode))
    *is_sent = rd_send_failed(scan, name, S_ISLNK(status->stx_mode) ? ELOOP : ENOTDIR, "cannot read", error);
  else if (scan->settings->one_file_system && rd_device_of(status) != scan->device)
    *is_sent = rd_send_failed(scan, name, EXDEV, "cannot read", error);
  else
    return true;
  return false;
}

// `name` is empty if the source itself is listed; it was entered before.
static bool send_last(struct rd_scan *scan, const char *name, bool is_directory, struct rd_error *error) {
  struct statx status;
  bool is_sent;
  if (*name == '\0') return !scan->settings->recursive || rd_walk_rest(scan, error);
  if (!find(scan, name, &status, &is_sent, error)) return is_sent;
  if (is_directory && !S_ISDIR(status.stx_mode)) return rd_send_failed(scan, name, ENOTDIR, "cannot read", error);
  if (rd_send_is_excluded(scan, name, &status)) return true;
  return S_ISDIR(status.stx_mode) ? send_directory(scan, name, &status, error)
                                  : rd_send_plain(scan, name, &status, error);
}

static bool send_directory(struct rd_scan *scan, const char *name, const struct statx *status, struct rd_error *error) {
  bool is_sent;
  if (scan->settings->recursive) return rd_walk(scan, name, status, error);
  if (!rd_walk_may_enter(scan, name, &is_sent, error)) return is_sent;
  return rd_send_enter(scan, name, status, error) && rd_send_leave(scan, false, error);
}

// Like rd_send_status(), but a missing name is a failure, because the user gave it.
static bool find(struct rd_scan *scan, const char *name, struct statx *status, bool *is_sent, struct rd_error *error) {
  *is_sent = true;
  if (rd_status_of_name(rd_source_dirs_fd(scan->directories), name, status)) return true;
  *is_sent = rd_send_failed(scan, name, errno, "cannot read", error);
  return false;
}
