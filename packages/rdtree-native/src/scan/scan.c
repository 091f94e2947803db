// SPDX-License-Identifier: Apache-2.0
#include "scan/scan.h"

#include "base/memory.h"
#include "entry/metadata.h"
#include "scan/list.h"
#include "scan/walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EXPANDS_NOTHING "wildcards are not expanded (copy the directory, with --include and --exclude)"

static bool create(struct rd_scan *scan, int out_fd, struct rd_error *error);
static void destroy(struct rd_scan *scan);
static bool send_sources(struct rd_scan *scan, int in_fd, struct rd_error *error);
static bool send_source(struct rd_scan *scan, int in_fd, struct rd_error *error);
static bool is_pattern(const char *name);
static bool send_list(struct rd_scan *scan, const char *name, const struct statx *status, int in_fd,
                      struct rd_error *error);
static bool send_end(struct rd_scan *scan, struct rd_error *error);

bool rd_tree_scan(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_error *error) {
  struct rd_scan scan = {.settings = settings};
  bool is_done = create(&scan, out_fd, error) && send_sources(&scan, in_fd, error) && send_end(&scan, error);
  destroy(&scan);
  return is_done;
}

static bool create(struct rd_scan *scan, int out_fd, struct rd_error *error) {
  const struct rd_tree_settings *settings = scan->settings;
  scan->writer = rd_stream_writer_create(out_fd, RD_STREAM_ENTRIES);
  scan->directories = rd_source_dirs_create(true);
  scan->xattrs = rd_xattrs_create(settings);
  scan->owners = settings->archive ? rd_owner_names_create() : NULL;
  scan->links = settings->archive ? rd_hard_links_create() : NULL;
  scan->statuses = rd_statuses_create(rd_tree_threads(settings, true), rd_status_of_name);
  scan->path = rd_memory_new(RD_PATH_MAX_BYTES, 1);
  rd_destination_find(&scan->destination, settings);
  scan->patterns = rd_patterns_create(settings, error);
  return scan->patterns != NULL;
}

static void destroy(struct rd_scan *scan) {
  rd_statuses_destroy(scan->statuses);
  rd_stream_writer_destroy(scan->writer);
  rd_source_dirs_destroy(scan->directories);
  rd_xattrs_destroy(scan->xattrs);
  rd_owner_names_destroy(scan->owners);
  rd_hard_links_destroy(scan->links);
  rd_patterns_destroy(scan->patterns);
  free(scan->path);
}

static bool send_sources(struct rd_scan *scan, int in_fd, struct rd_error *error) {
  for (size_t i = 0; i < scan->settings->source_count; i++) {
    scan->source = (uint32_t)i;
    rd_source_dirs_begin(scan->directories, scan->settings->sources[i]);
    if (!send_source(scan, in_fd, error)) return false;
  }
  return true;
}

static bool send_source(struct rd_scan *scan, int in_fd, struct rd_error *error) {
  struct statx status;
  struct rd_bytes own = rd_source_dirs_source_name(scan->directories);
  const char *name = own.count == 0 ? "." : (const char *)own.at;
  int above = rd_source_dirs_fd(scan->directories);
  if (above < 0 || !rd_status_of_name(above, name, &status))
    return rd_send_failed(scan, name, errno, is_pattern(name) ? EXPANDS_NOTHING : "cannot read", error);
  scan->device = rd_device_of(&status);
  if (scan->settings->list != RD_LIST_NONE) return send_list(scan, name, &status, in_fd, error);
  if (!S_ISDIR(status.stx_mode)) return rd_send_plain(scan, name, &status, error);
  if (own.count > 0 && rd_destination_is(&scan->destination, &status))
    return rd_send_failed(scan, name, 0, "cannot be copied into itself", error);
  if (scan->settings->recursive) return rd_walk(scan, name, &status, error);
  return rd_send_failed(scan, name, 0, "is a directory (to copy it, use -r)", error);
}

// Returns true if a missing name looks like a pattern that a shell would expand. Reads errno.
static bool is_pattern(const char *name) {
  return errno == ENOENT && strpbrk(name, "*?[") != NULL;
}

static bool send_list(struct rd_scan *scan, const char *name, const struct statx *status, int in_fd,
                      struct rd_error *error) {
  if (!S_ISDIR(status->stx_mode)) return rd_send_failed(scan, name, ENOTDIR, "cannot read", error);
  if (!rd_send_enter(scan, name, status, error)) return false;
  if (rd_source_dirs_fd(scan->directories) < 0)
    rd_send_unreadable(scan, errno);
  else if (!rd_list_send(scan, in_fd, error))
    return false;
  return rd_send_leave(scan, false, error);
}

static bool send_end(struct rd_scan *scan, struct rd_error *error) {
  struct rd_record end = {.type = RD_RECORD_END,
                          .end = {scan->totals.entries, scan->totals.bytes, scan->totals.failed}};
  if (!rd_stream_put(scan->writer, &end, error) || !rd_stream_flush(scan->writer, error)) return false;
  if (scan->specials_skipped > 0)
    rd_events_warning("%" PRIu64 " special file%s skipped (to copy %s, use -a)", scan->specials_skipped,
                      scan->specials_skipped == 1 ? " was" : "s were", scan->specials_skipped == 1 ? "it" : "them");
  if (scan->settings->role == RD_TREE_SCAN) rd_events_progress(&scan->totals, NULL, true);
  return true;
}
