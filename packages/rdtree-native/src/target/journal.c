// SPDX-License-Identifier: Apache-2.0
#include "target/journal.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "report/events.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>

#define RUNS_MAX 64u // dead runs that one walk cleans up after; the next copy handles the others
#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct rd_journal {
  struct rd_write *write;
  int top, fd;     // fd is -1 if the journal was not begun
  bool is_refused; // this user may not write to the directory of journals
};

// A run that was killed, or whose machine failed.
struct dead_run {
  const char *name;
  int fd; // its journal, locked
};

struct dead_runs {
  struct dead_run run[RUNS_MAX];
  size_t count;
};

static void clean(int top);
static void find_dead_runs(struct dead_runs *dead, DIR *journals);
static int lock_dead(int journals, const char *run);
static void clean_below(const struct dead_runs *dead, int fd, unsigned depth);
static bool is_run(const char *name);
static bool is_temporary_of(const char *name, const char *run);
static void drop(struct rd_journal *journal, int journals);
static bool begin(struct rd_journal *journal);
static bool make_permanent(const struct rd_journal *journal, int journals);
static bool sync_directory(int fd);
static void share(const struct rd_journal *journal, int journals);
static int open_locked(int directory, const char *name);
static bool is_named(int directory, const char *name, int fd);

struct rd_journal *rd_journal_open(struct rd_write *write, int top) {
  struct rd_journal *journal = rd_memory_new(1, sizeof *journal);
  *journal = (struct rd_journal){.write = write, .top = top, .fd = -1};
  clean(top);
  (void)unlinkat(top, RD_JOURNAL_DIRECTORY, AT_REMOVEDIR); // fails if another run uses it
  return journal;
}

bool rd_journal_begin(struct rd_journal *journal) {
  if (journal->fd >= 0 || journal->is_refused || begin(journal)) return true;
  if (errno != EACCES && errno != EPERM) return false;
  journal->is_refused = true;
  rd_events_warning("%s in the target belongs to another user: if this run is killed, its temporary files remain",
                    RD_JOURNAL_DIRECTORY);
  return true;
}

bool rd_journal_is_begun(const struct rd_journal *journal) {
  return journal != NULL && journal->fd >= 0;
}

void rd_journal_remove(struct rd_journal *journal) {
  if (journal == NULL) return;
  RD_AUTO_CLOSE int journals = openat(journal->top, RD_JOURNAL_DIRECTORY, OPEN_DIRECTORY);
  if (journals >= 0) drop(journal, journals);
  rd_cleanup_fd(&journal->fd);
  free(journal);
}

static void drop(struct rd_journal *journal, int journals) {
  if (journal->fd >= 0) (void)unlinkat(journals, journal->write->settings->run, 0);
  (void)unlinkat(journal->top, RD_JOURNAL_DIRECTORY, AT_REMOVEDIR); // fails if another run uses it
  rd_cleanup_fd(&journal->fd);
}

// Removes the files that dead runs left, then their journals.
static void clean(int top) {
  struct dead_runs dead = {0};
  int fd = openat(top, RD_JOURNAL_DIRECTORY, OPEN_DIRECTORY);
  DIR *journals = fd < 0 ? NULL : fdopendir(fd);
  if (journals == NULL) {
    if (fd >= 0) close(fd);
    return;
  }
  find_dead_runs(&dead, journals);
  if (dead.count > 0) clean_below(&dead, fcntl(top, F_DUPFD_CLOEXEC, 0), 0);
  for (size_t i = 0; i < dead.count; i++) {
    if (is_named(fd, dead.run[i].name, dead.run[i].fd)) (void)unlinkat(fd, dead.run[i].name, 0);
    close(dead.run[i].fd);
    free((char *)dead.run[i].name);
  }
  closedir(journals);
}

static void find_dead_runs(struct dead_runs *dead, DIR *journals) {
  for (const struct dirent *entry; dead->count < RUNS_MAX && (entry = readdir(journals)) != NULL;) {
    int fd = is_run(entry->d_name) ? lock_dead(dirfd(journals), entry->d_name) : -1;
    if (fd < 0) continue;
    dead->run[dead->count++] = (struct dead_run){rd_memory_copy(entry->d_name, strlen(entry->d_name)), fd};
  }
}

// Opens and locks the journal of a dead run; a live run holds that lock. A journal of another user is left to that
// user's next copy. Returns -1 if this is not a dead run of this user.
static int lock_dead(int journals, const char *run) {
  RD_AUTO_CLOSE int fd = openat(journals, run, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat now;
  if (fd < 0 || fstat(fd, &now) < 0 || !S_ISREG(now.st_mode) || now.st_uid != geteuid()) return -1;
  return flock(fd, LOCK_EX | LOCK_NB) < 0 ? -1 : rd_take_fd(&fd);
}

// Takes ownership of `fd`. A directory that cannot be read keeps its contents.
static void clean_below(const struct dead_runs *dead, int fd, unsigned depth) {
  DIR *names = fd < 0 || depth > RD_DEPTH_MAX ? NULL : fdopendir(fd);
  if (names == NULL) {
    if (fd >= 0) close(fd);
    return;
  }
  for (const struct dirent *entry; (entry = readdir(names)) != NULL;) {
    const char *name = entry->d_name;
    bool may_be_directory = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
    if (may_be_directory) clean_below(dead, openat(fd, name, OPEN_DIRECTORY), depth + 1);
    for (size_t i = 0; i < dead->count; i++)
      if (is_temporary_of(name, dead->run[i].name)) (void)unlinkat(fd, name, 0);
  }
  closedir(names);
}

// Returns true if the settings allow such a name of a run.
static bool is_run(const char *name) {
  size_t count = strlen(name);
  return count > 0 && count < sizeof((struct rd_tree_settings *)0)->run && strspn(name, "0123456789abcdef-") == count;
}

// Returns true for ".rdcp-RUN-NUMBER", but not for another run whose name only begins with this one.
static bool is_temporary_of(const char *name, const char *run) {
  size_t count = strlen(run);
  if (strncmp(name, ".rdcp-", 6) != 0 || strncmp(name + 6, run, count) != 0 || name[6 + count] != '-') return false;
  const char *number = name + 6 + count + 1;
  return *number != '\0' && number[strspn(number, "0123456789")] == '\0';
}

// Retries, because another run may remove the directory, or a journal that is not locked yet, in between.
static bool begin(struct rd_journal *journal) {
  for (int tries = 0; tries < 100; tries++) {
    bool is_new = mkdirat(journal->top, RD_JOURNAL_DIRECTORY, 0700) == 0;
    if (!is_new && errno != EEXIST) return false;
    RD_AUTO_CLOSE int journals = openat(journal->top, RD_JOURNAL_DIRECTORY, OPEN_DIRECTORY);
    if (is_new && journals >= 0) share(journal, journals);
    if (journals < 0 && errno != ENOENT) return false;
    if (journals >= 0) journal->fd = open_locked(journals, journal->write->settings->run);
    if (journal->fd >= 0 && make_permanent(journal, journals)) return true;
    if (journal->fd >= 0) {
      int number = errno;
      drop(journal, journals);
      errno = number;
      return false;
    }
    if (errno != ENOENT && errno != EWOULDBLOCK) return false;
  }
  return false;
}

// Temporary names may soon be on the disk: after a loss of power the next run must find the journal.
static bool make_permanent(const struct rd_journal *journal, int journals) {
  if (!journal->write->settings->sync) return true;
  return fsync(journal->fd) == 0 && sync_directory(journals) && sync_directory(journal->top);
}

// Some file systems of other machines do not know it, and need not.
static bool sync_directory(int fd) {
  return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP;
}

// If other users may write to the target, each may have a journal, and none may remove another's.
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
