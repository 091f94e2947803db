// SPDX-License-Identifier: Apache-2.0
#include "scan/destination.h"

#include "base/cleanup.h"
#include "entry/metadata.h"
#include "entry/partial_name.h"
#include "entry/root.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RANK_BYTES 12u // "-" and the rank of one of several targets, after the name of the run

static void look(struct rd_destination *destination);
static bool has_run(int fd, const char *run);

void rd_destination_find(struct rd_destination *destination, const struct rd_tree_settings *settings) {
  *destination = (struct rd_destination){.settings = settings};
  look(destination);
  destination->is_new = !destination->is_known;
}

bool rd_destination_is(struct rd_destination *destination, const struct statx *status) {
  if (!destination->is_known) look(destination);
  return destination->is_known && status->stx_ino == destination->inode && rd_device_of(status) == destination->device;
}

bool rd_destination_has_journal(const struct rd_destination *destination, int fd) {
  const struct rd_tree_settings *settings = destination->settings;
  if (settings->width == 0) return has_run(fd, settings->run);
  char run[sizeof settings->run + RANK_BYTES];
  bool has_any = faccessat(fd, RD_JOURNAL_DIRECTORY, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  for (unsigned rank = 0; has_any && rank < settings->width; rank++) {
    snprintf(run, sizeof run, "%s-%u", settings->run, rank);
    if (has_run(fd, run)) return true;
  }
  return false;
}

bool rd_destination_may_begin(int fd) {
  int journals = openat(fd, RD_JOURNAL_DIRECTORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *names = journals < 0 ? NULL : fdopendir(journals);
  if (names == NULL) {
    if (journals >= 0) close(journals);
    return false;
  }
  bool has_run = false;
  for (const struct dirent *entry; !has_run && (entry = readdir(names)) != NULL;)
    has_run = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  closedir(names);
  return !has_run;
}

static void look(struct rd_destination *destination) {
  const char *target = destination->settings->target;
  struct stat status;
  if (target == NULL) return;
  RD_AUTO_FREE char *path = rd_home_path(target);
  if (path == NULL || !rd_root_stat(path, &status) || !S_ISDIR(status.st_mode)) return;
  destination->device = status.st_dev;
  destination->inode = status.st_ino;
  destination->is_known = true;
}

static bool has_run(int fd, const char *run) {
  char journal[sizeof RD_JOURNAL_DIRECTORY + sizeof((struct rd_tree_settings *)0)->run + RANK_BYTES];
  snprintf(journal, sizeof journal, "%s/%s", RD_JOURNAL_DIRECTORY, run);
  return faccessat(fd, journal, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}
