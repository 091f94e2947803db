// SPDX-License-Identifier: Apache-2.0
#include "scan/entry_records.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "entry/file_digest.h"
#include "entry/metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FLUSH_MS 50
#define SYMLINK_MAX_BYTES 4095u

static bool send_symlink(struct rd_scan *scan, const char *name, struct rd_record *record, struct rd_error *error);
static bool send_file(struct rd_scan *scan, const char *name, struct rd_record *record, struct rd_error *error);
static bool is_link(struct rd_scan *scan, const char *name, const struct statx *status, struct rd_record *record);
static struct rd_bytes target_path(struct rd_scan *scan, const char *name);
static bool send_attached(struct rd_scan *scan, const char *name, const struct rd_record *record, bool *is_readable,
                          struct rd_error *error);
static bool send(struct rd_scan *scan, const struct rd_record *record, struct rd_error *error);
static struct rd_bytes stream_name(const char *name);
static void failed_event(struct rd_scan *scan, struct rd_bytes name, int number, const char *text);

bool rd_send_status(struct rd_scan *scan, const char *name, struct statx *status, bool *is_sent,
                    struct rd_error *error) {
  *is_sent = true;
  if (rd_status_of_name(rd_source_dirs_fd(scan->directories), name, status)) return true;
  *is_sent = rd_send_no_status(scan, name, error);
  return false;
}

bool rd_send_no_status(struct rd_scan *scan, const char *name, struct rd_error *error) {
  return errno == ENOENT || rd_send_failed(scan, name, errno, "cannot read", error);
}

bool rd_send_is_excluded(struct rd_scan *scan, const char *name, const struct statx *status) {
  if (scan->settings->pattern_count == 0) return false;
  struct rd_bytes path = rd_source_dirs_below(scan->directories, rd_bytes_of(name));
  return rd_patterns_exclude(scan->patterns, path, S_ISDIR(status->stx_mode));
}

bool rd_send_plain(struct rd_scan *scan, const char *name, const struct statx *status, struct rd_error *error) {
  struct rd_record record = {.type = RD_RECORD_SPECIAL,
                             .entry = {.name = rd_bytes_of(name), .metadata = rd_metadata_of(status)}};
  if (!rd_name_is_valid(record.entry.name)) return rd_send_failed(scan, name, 0, "its name cannot be copied", error);
  if (rd_source_dirs_depth(scan->directories) == 0) record.entry.source = scan->source;
  if (is_link(scan, name, status, &record)) return send(scan, &record, error);
  if (S_ISREG(status->stx_mode)) {
    record.entry.size = status->stx_size;
    return send_file(scan, name, &record, error);
  }
  if (S_ISLNK(status->stx_mode)) return send_symlink(scan, name, &record, error);
  if (!scan->settings->archive) {
    // Compare skips the record, which accounts for a source, and protects the target's entry from removal.
    scan->specials_skipped++;
    return scan->settings->role == RD_TREE_SEND || rd_stream_put(scan->writer, &record, error);
  }
  bool is_readable;
  record.entry.device = rd_special_of(status);
  if (!send_attached(scan, name, &record, &is_readable, error)) return false;
  return !is_readable || send(scan, &record, error);
}

bool rd_send_enter(struct rd_scan *scan, const char *name, const struct statx *status, struct rd_error *error) {
  struct rd_record record = {.type = RD_RECORD_ENTER,
                             .entry = {.name = stream_name(name), .metadata = rd_metadata_of(status)}};
  if (rd_source_dirs_depth(scan->directories) == 0) record.entry.source = scan->source;
  bool is_readable;
  if (!send_attached(scan, name, &record, &is_readable, error)) return false;
  rd_source_dirs_enter(scan->directories, record.entry.name);
  return send(scan, &record, error);
}

bool rd_send_leave(struct rd_scan *scan, bool is_whole, struct rd_error *error) {
  rd_source_dirs_leave(scan->directories);
  struct rd_record record = {.type = RD_RECORD_LEAVE, .leave = {.is_whole = is_whole}};
  return rd_stream_put(scan->writer, &record, error);
}

bool rd_send_failed(struct rd_scan *scan, const char *name, int number, const char *text, struct rd_error *error) {
  struct rd_record record = {.type = RD_RECORD_FAILED, .entry = {.name = stream_name(name)}};
  scan->totals.entries++;
  failed_event(scan, record.entry.name, number, text);
  return !rd_name_is_valid(record.entry.name) || rd_stream_put(scan->writer, &record, error);
}

void rd_send_unreadable(struct rd_scan *scan, int number) {
  failed_event(scan, (struct rd_bytes){0}, number, "cannot read");
}

void rd_send_refused(struct rd_scan *scan, const char *text) {
  failed_event(scan, (struct rd_bytes){0}, 0, text);
}

static bool send_symlink(struct rd_scan *scan, const char *name, struct rd_record *record, struct rd_error *error) {
  char target[SYMLINK_MAX_BYTES + 1];
  record->type = RD_RECORD_SYMLINK;
  ssize_t count = readlinkat(rd_source_dirs_fd(scan->directories), name, target, sizeof target);
  if (count < 0) return rd_send_failed(scan, name, errno, "cannot read", error);
  if (count == 0 || count > (ssize_t)SYMLINK_MAX_BYTES)
    return rd_send_failed(scan, name, 0, "its target cannot be copied", error);
  record->entry.target = (struct rd_bytes){(const unsigned char *)target, (size_t)count};
  bool is_readable;
  if (!send_attached(scan, name, record, &is_readable, error)) return false;
  return !is_readable || send(scan, record, error);
}

static bool send_file(struct rd_scan *scan, const char *name, struct rd_record *record, struct rd_error *error) {
  record->type = RD_RECORD_FILE;
  if (scan->settings->checksum) {
    RD_AUTO_CLOSE int fd = rd_file_open(rd_source_dirs_fd(scan->directories), name);
    if (fd >= 0) (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    if (fd < 0 || !rd_file_digest(fd, 0, UINT64_MAX, record->entry.digest))
      return rd_send_failed(scan, name, errno, "cannot read", error);
    record->entry.has_digest = true;
  }
  bool is_readable;
  if (!send_attached(scan, name, record, &is_readable, error)) return false;
  return !is_readable || send(scan, record, error);
}

// Makes the record a LINK to the file's first name, unless that has this path: a source may be named twice.
static bool is_link(struct rd_scan *scan, const char *name, const struct statx *status, struct rd_record *record) {
  bool is_sent = S_ISREG(status->stx_mode) || S_ISLNK(status->stx_mode) || scan->settings->archive;
  if (scan->links == NULL || status->stx_nlink < 2 || !is_sent) return false;
  struct rd_bytes path = target_path(scan, name), *first = &record->entry.target;
  if (path.count == 0 || !rd_hard_links_see(scan->links, status, path, first)) return false;
  if (first->count == path.count && memcmp(first->at, path.at, path.count) == 0) return false;
  record->type = RD_RECORD_LINK;
  record->entry.size = S_ISREG(status->stx_mode) ? status->stx_size : 0;
  return true;
}

// Returns the path relative to the target directory, or an empty one if it is too long for a record.
static struct rd_bytes target_path(struct rd_scan *scan, const char *name) {
  struct rd_bytes own = rd_source_dirs_source_name(scan->directories), none = {0};
  if (rd_source_dirs_depth(scan->directories) == 0) return own;
  struct rd_bytes below = rd_source_dirs_below(scan->directories, rd_bytes_of(name));
  if (own.count == 0) return below;
  if (own.count + 1 + below.count > RD_PATH_MAX_BYTES) return none;
  memcpy(scan->path, own.at, own.count);
  scan->path[own.count] = '/';
  memcpy(scan->path + own.count + 1, below.at, below.count);
  return (struct rd_bytes){scan->path, own.count + 1 + below.count};
}

// Sends the names of the owners, and the attributes. *is_readable is false if the attributes cannot be read: then the
// failure was sent, or a directory is to be sent without them.
static bool send_attached(struct rd_scan *scan, const char *name, const struct rd_record *record, bool *is_readable,
                          struct rd_error *error) {
  *is_readable = true;
  if (scan->owners != NULL && !rd_owner_names_put(scan->owners, &record->entry.metadata, scan->writer, error))
    return false;
  if (rd_xattrs_read_name(scan->xattrs, rd_source_dirs_fd(scan->directories), name))
    return rd_attributes_put(rd_xattrs_found(scan->xattrs), scan->writer, error);
  *is_readable = false;
  static const char text[] = "cannot read its attributes";
  if (record->type != RD_RECORD_ENTER) return rd_send_failed(scan, name, errno, text, error);
  failed_event(scan, record->entry.name, errno, text);
  return true;
}

static bool send(struct rd_scan *scan, const struct rd_record *record, struct rd_error *error) {
  struct rd_tree_totals *totals = &scan->totals;
  bool is_directory = record->type == RD_RECORD_ENTER;
  totals->entries++;
  totals->directories += is_directory;
  totals->links += record->type == RD_RECORD_LINK;
  totals->files += record->type == RD_RECORD_FILE;
  totals->bytes += record->type == RD_RECORD_FILE ? record->entry.size : 0;
  if (!rd_stream_put(scan->writer, record, error)) return false;
  int64_t now_ms = rd_now_ms();
  if (now_ms - scan->flushed_ms < FLUSH_MS) return true;
  scan->flushed_ms = now_ms;
  struct rd_bytes name = is_directory ? (struct rd_bytes){0} : record->entry.name;
  // In role send, the totals are those of the contents read.
  if (scan->settings->role == RD_TREE_SCAN)
    rd_events_progress(totals, rd_source_dirs_shown(scan->directories, name), false);
  return rd_stream_flush(scan->writer, error);
}

static struct rd_bytes stream_name(const char *name) {
  return rd_bytes_of(strcmp(name, ".") == 0 ? "" : name);
}

static void failed_event(struct rd_scan *scan, struct rd_bytes name, int number, const char *text) {
  scan->totals.failed++;
  rd_events_failed(rd_source_dirs_shown(scan->directories, name), number, text);
}
