// SPDX-License-Identifier: Apache-2.0
#include "target/kept_entry.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>

struct linking {
  struct rd_job job;
  struct rd_target_file *file;
  int top_fd;
};

static void run_link(struct rd_job *job);
static bool make_link(struct rd_target_file *file, int top_fd);
static bool is_unchanged(const struct rd_target_file *file, const struct stat *kept);
static bool replace(struct rd_target_file *file, int from, const struct stat *kept);

void rd_kept_entry_link(struct rd_target_file *file, int top_fd) {
  struct linking *linking = rd_memory_new(1, sizeof *linking);
  *linking = (struct linking){{.run = run_link, .bytes = sizeof *linking + rd_target_file_bytes(file)}, file, top_fd};
  rd_jobs_put(file->write->jobs, &linking->job);
}

static void run_link(struct rd_job *job) {
  struct linking *linking = (struct linking *)job;
  struct rd_target_file *file = linking->file;
  struct rd_write *write = file->write;
  bool is_done = !atomic_load(&write->is_stopped) && make_link(file, linking->top_fd);
  free(linking);
  if (!is_done) {
    rd_target_file_destroy(file);
    return;
  }
  rd_write_count(write, &(struct rd_tree_totals){.entries = 1, .links = 1});
  file->kind = RD_KIND_NOTE;
  file->action = RD_ACTION_LINK;
  rd_target_file_forget_content(file);
  write->add(write->batches, file);
}

static bool make_link(struct rd_target_file *file, int top_fd) {
  struct stat kept;
  RD_AUTO_FREE char *path = rd_directory_below_top(file->directory, NULL);
  RD_AUTO_CLOSE int from = rd_open_below(top_fd, path);
  if (from < 0 || fstatat(from, file->name, &kept, AT_SYMLINK_NOFOLLOW) < 0)
    return rd_target_file_fail(file, errno, "cannot open the same entry below the directory of --link-dest");
  if (!is_unchanged(file, &kept))
    return rd_target_file_fail(file, 0, "the same entry below the directory of --link-dest has changed");
  if (linkat(from, file->name, file->directory->fd, file->name, 0) == 0) return true;
  if (errno == EEXIST && replace(file, from, &kept)) return true;
  return rd_target_file_fail(file, errno, "cannot link it to the same entry below the directory of --link-dest");
}

// Since compare saw it.
static bool is_unchanged(const struct rd_target_file *file, const struct stat *kept) {
  const struct rd_metadata *wanted = &file->wanted.metadata;
  if ((kept->st_mode & S_IFMT) != (wanted->mode & S_IFMT)) return false;
  return !S_ISREG(kept->st_mode) || ((uint64_t)kept->st_size == file->size && kept->st_mtim.tv_sec == wanted->mtime_s);
}

// Of two names of one file, rename() leaves both.
static bool replace(struct rd_target_file *file, int from, const struct stat *kept) {
  struct stat now;
  char temporary[RD_TEMPORARY_BYTES];
  const char *text;
  int directory = file->directory->fd;
  if (fstatat(directory, file->name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == kept->st_ino &&
      now.st_dev == kept->st_dev)
    return true;
  rd_temporary_name(file->write, atomic_fetch_add(&file->write->numbers, 1), temporary);
  if (linkat(from, file->name, directory, temporary, 0) < 0) return false;
  if (rd_rename_over(file->directory, temporary, file->name, &text)) return true;
  int number = errno;
  (void)unlinkat(directory, temporary, 0);
  errno = number;
  return false;
}
