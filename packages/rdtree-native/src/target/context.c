// SPDX-License-Identifier: Apache-2.0
#include "target/context.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "target/mount_name.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_fatal(int number);

void rd_write_begin(struct rd_write *write, const struct rd_tree_settings *settings) {
  *write = (struct rd_write){.settings = settings, .user = geteuid(), .group = getegid(), .umask = umask(0)};
  for (size_t i = 0; i < RD_LINK_DESTS_MAX; i++) write->link_dests[i] = -1;
  pthread_mutex_init(&write->lock, NULL);
}

void rd_write_end(struct rd_write *write) {
  umask(write->umask);
  for (size_t i = 0; i < RD_LINK_DESTS_MAX; i++) rd_cleanup_fd(&write->link_dests[i]);
  pthread_mutex_destroy(&write->lock);
}

void rd_write_stop(struct rd_write *write, const struct rd_error *error) {
  pthread_mutex_lock(&write->lock);
  if (write->error.code == RD_CODE_OK) write->error = *error;
  atomic_store(&write->is_stopped, true);
  pthread_mutex_unlock(&write->lock);
}

void rd_write_cut(struct rd_write *write, int64_t within_ms) {
  atomic_store(&write->late_ms, rd_now_ms() + within_ms);
}

bool rd_write_may_continue(const struct rd_write *write) {
  int64_t late_ms = atomic_load(&write->late_ms);
  return !atomic_load(&write->is_stopped) && (late_ms == 0 || rd_now_ms() < late_ms);
}

void rd_write_failed(struct rd_write *write, int fd, const char *path, int number, const char *text) {
  if (!is_fatal(number)) {
    rd_events_failed(path, number, text);
    rd_write_count(write, &(struct rd_tree_totals){.failed = 1});
    return;
  }
  struct rd_error error;
  char mount[256];
  rd_mount_name(fd, mount, sizeof mount);
  errno = number;
  rd_error_set_errno(&error, RD_CODE_SINK_UNWRITABLE, "%.200s: cannot write, file system %.200s", path, mount);
  atomic_store(&write->is_disk_lost, true);
  rd_write_stop(write, &error);
}

void rd_write_refused(struct rd_write *write, enum rd_write_refusal refusal) {
  pthread_mutex_lock(&write->lock);
  write->refused[refusal]++;
  if (refusal == RD_REFUSED_OWNERS) write->totals.owners_refused++;
  pthread_mutex_unlock(&write->lock);
}

void rd_write_count(struct rd_write *write, const struct rd_tree_totals *more) {
  struct rd_tree_totals *totals = &write->totals;
  pthread_mutex_lock(&write->lock);
  totals->entries += more->entries;
  totals->files += more->files;
  totals->bytes += more->bytes;
  totals->sent_bytes += more->sent_bytes;
  totals->removed += more->removed;
  totals->failed += more->failed;
  totals->links += more->links;
  totals->directories += more->directories;
  totals->resumed_bytes += more->resumed_bytes;
  pthread_mutex_unlock(&write->lock);
}

void rd_write_progress(struct rd_write *write, const char *path, bool is_last) {
  pthread_mutex_lock(&write->lock);
  struct rd_tree_totals totals = write->totals;
  pthread_mutex_unlock(&write->lock);
  rd_events_progress(&totals, path, is_last);
}

void rd_write_totals(struct rd_write *write) {
  rd_events_totals(&write->totals);
}

void rd_write_warn(struct rd_write *write) {
  uint64_t owners = write->refused[RD_REFUSED_OWNERS], acls = write->refused[RD_REFUSED_ACLS];
  uint64_t attributes = write->refused[RD_REFUSED_ATTRIBUTES];
  // As with rsync: an ordinary user expects to own the copies.
  if (owners > 0 && (write->user == 0 || write->settings->paths))
    rd_events_warning("%" PRIu64 " entries keep their old owner or group at the target (only root can change "
                      "ownership)",
                      owners);
  if (acls > 0) rd_events_warning("%" PRIu64 " ACLs could not be set at the target", acls);
  if (attributes > 0) rd_events_warning("%" PRIu64 " extended attributes could not be set at the target", attributes);
}

// Returns true if every other file would fail for the same reason.
static bool is_fatal(int number) {
  return number == EROFS || number == EIO;
}
