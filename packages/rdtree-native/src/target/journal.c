// SPDX-License-Identifier: Apache-2.0
#include "target/journal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "report/events.h"

#include <dirent.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <sys/file.h>

#define JOURNAL_BYTES_MAX (INT64_C(256) << 20) // some million directories
#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct rd_journal {
  struct rd_write *write;
  int top, fd;     // -1: nothing was written to it yet
  bool is_refused; // the directory of journals is another user's alone
};

static void clean(int top, int journals, const char *run);
static bool is_first(void **seen, const char *path);
static int compare(const void *left, const void *right);
static void clean_directory(int top, const char *path, const char *run);
static bool is_run(const char *name);
static bool is_temporary_of(const char *name, const char *run);
static bool begin(struct rd_journal *journal);
static void share(const struct rd_journal *journal, int journals);
static int open_locked(int directory, const char *name);
static bool is_named(int directory, const char *name, int fd);

struct rd_journal *rd_journal_open(struct rd_write *write, int top) {
  struct rd_journal *journal = rd_memory_new(1, sizeof *journal);
  *journal = (struct rd_journal){.write = write, .top = top, .fd = -1};
  int journals = openat(top, RD_JOURNAL_DIRECTORY, OPEN_DIRECTORY);
  DIR *names = journals < 0 ? NULL : fdopendir(journals);
  if (names == NULL && journals >= 0) close(journals);
  for (const struct dirent *entry; names != NULL && (entry = readdir(names)) != NULL;)
    if (is_run(entry->d_name)) clean(top, journals, entry->d_name);
  if (names != NULL) closedir(names);
  (void)unlinkat(top, RD_JOURNAL_DIRECTORY, AT_REMOVEDIR); // unless another run is in it
  return journal;
}

bool rd_journal_add(struct rd_journal *journal, struct rd_directory *directory) {
  if (journal->fd < 0 && !journal->is_refused && !begin(journal)) {
    if (errno != EACCES && errno != EPERM) return false;
    journal->is_refused = true;
    rd_events_warning("%s in the target belongs to another user: if this run is killed, its temporary files remain",
                      RD_JOURNAL_DIRECTORY);
  }
  if (journal->is_refused) return directory->is_journaled = true;
  RD_AUTO_FREE char *path = rd_directory_below_top(directory, NULL);
  directory->is_journaled = rd_write_all(journal->fd, path, strlen(path) + 1);
  return directory->is_journaled;
}

bool rd_journal_is_begun(const struct rd_journal *journal) {
  return journal != NULL && journal->fd >= 0;
}

void rd_journal_remove(struct rd_journal *journal) {
  if (journal == NULL) return;
  RD_AUTO_CLOSE int journals = openat(journal->top, RD_JOURNAL_DIRECTORY, OPEN_DIRECTORY);
  if (journal->fd >= 0 && journals >= 0) (void)unlinkat(journals, journal->write->settings->run, 0);
  if (journals >= 0) (void)unlinkat(journal->top, RD_JOURNAL_DIRECTORY, AT_REMOVEDIR);
  rd_cleanup_fd(&journal->fd);
  free(journal);
}

// A run that was killed holds no lock. The journal of another user could name anything: that user's next copy reads it.
static void clean(int top, int journals, const char *run) {
  RD_AUTO_CLOSE int fd = openat(journals, run, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat now;
  if (fd < 0 || fstat(fd, &now) < 0 || !S_ISREG(now.st_mode) || now.st_uid != geteuid()) return;
  if (now.st_size > JOURNAL_BYTES_MAX || flock(fd, LOCK_EX | LOCK_NB) < 0) return;
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  FILE *list = copy < 0 ? NULL : fdopen(copy, "r");
  if (list == NULL && copy >= 0) close(copy);
  void *seen = NULL;
  char *path = NULL;
  size_t room = 0;
  // A path without its NUL was being written when the run was killed; it had no temporary file yet.
  for (ssize_t count; list != NULL && (count = getdelim(&path, &room, '\0', list)) > 0;)
    if (path[count - 1] == '\0' && is_first(&seen, path)) clean_directory(top, path, run);
  tdestroy(seen, free);
  free(path);
  if (list != NULL) fclose(list);
  if (is_named(journals, run, fd)) (void)unlinkat(journals, run, 0);
}

// A loss of power may leave zeros in place of paths.
static bool is_first(void **seen, const char *path) {
  char *copy = rd_memory_copy(path, strlen(path));
  void *found = tsearch(copy, seen, compare);
  if (found == NULL) abort(); // without memory: see base/memory.h
  bool is_new = *(char **)found == copy;
  if (!is_new) free(copy);
  return is_new;
}

static int compare(const void *left, const void *right) {
  return strcmp(left, right);
}

static void clean_directory(int top, const char *path, const char *run) {
  int fd = rd_open_below(top, path);
  DIR *names = fd < 0 ? NULL : fdopendir(fd);
  if (names == NULL && fd >= 0) close(fd);
  for (const struct dirent *entry; names != NULL && (entry = readdir(names)) != NULL;)
    if (is_temporary_of(entry->d_name, run)) (void)unlinkat(fd, entry->d_name, 0);
  if (names != NULL) closedir(names);
}

// As settings allow it.
static bool is_run(const char *name) {
  size_t count = strlen(name);
  return count > 0 && count < sizeof((struct rd_tree_settings *)0)->run && strspn(name, "0123456789abcdef-") == count;
}

// ".rdcp-RUN-NUMBER", and no run whose name goes on.
static bool is_temporary_of(const char *name, const char *run) {
  size_t count = strlen(run);
  if (strncmp(name, ".rdcp-", 6) != 0 || strncmp(name + 6, run, count) != 0 || name[6 + count] != '-') return false;
  const char *number = name + 6 + count + 1;
  return *number != '\0' && number[strspn(number, "0123456789")] == '\0';
}

// Another run may remove the directory, or an unlocked journal, in between.
static bool begin(struct rd_journal *journal) {
  for (int tries = 0; tries < 100 && journal->fd < 0; tries++) {
    bool is_new = mkdirat(journal->top, RD_JOURNAL_DIRECTORY, 0700) == 0;
    if (!is_new && errno != EEXIST) return false;
    RD_AUTO_CLOSE int journals = openat(journal->top, RD_JOURNAL_DIRECTORY, OPEN_DIRECTORY);
    if (is_new && journals >= 0) share(journal, journals);
    if (journals < 0 && errno != ENOENT) return false;
    if (journals >= 0) journal->fd = open_locked(journals, journal->write->settings->run);
    if (journal->fd < 0 && errno != ENOENT && errno != EWOULDBLOCK) return false;
  }
  return journal->fd >= 0;
}

// Where all users may write to the target, each may have a journal, and none may remove another's.
static void share(const struct rd_journal *journal, int journals) {
  struct stat top;
  if (fstat(journal->top, &top) == 0 && (top.st_mode & 0022) != 0)
    (void)fchmod(journals, S_ISVTX | 0700 | (top.st_mode & 0077));
}

static int open_locked(int directory, const char *name) {
  RD_AUTO_CLOSE int fd = openat(directory, name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) return -1;
  errno = ENOENT;
  return is_named(directory, name, fd) ? rd_take_fd(&fd) : -1;
}

static bool is_named(int directory, const char *name, int fd) {
  struct stat now, named;
  return fstat(fd, &now) == 0 && fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         now.st_ino == named.st_ino && now.st_dev == named.st_dev;
}
