// SPDX-License-Identifier: Apache-2.0
#include "target/special.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "entry/root.h"

#include <errno.h>
#include <fcntl.h>

static void put(struct rd_target_file *file, void (*run)(struct rd_job *job));
static void make_symlink(struct rd_job *job);
static void make_special(struct rd_job *job);
static void finish_new(struct rd_target_file *file, const char *name);
static bool set_metadata_of(struct rd_target_file *file, const char *name);
static void set_metadata(struct rd_job *job);
static void complete(struct rd_target_file *file, bool is_done);

void rd_special_make_symlink(struct rd_target_file *file, struct rd_bytes target) {
  file->data = (unsigned char *)rd_memory_copy((const char *)target.at, target.count);
  put(file, make_symlink);
}

void rd_special_make(struct rd_target_file *file, uint64_t device) {
  file->size = device;
  put(file, make_special);
}

void rd_special_set_metadata(struct rd_target_file *file) {
  put(file, set_metadata);
}

static void put(struct rd_target_file *file, void (*run)(struct rd_job *job)) {
  file->job = (struct rd_job){.run = run, .bytes = rd_target_file_bytes(file)};
  rd_jobs_put(file->write->jobs, &file->job);
}

static void make_symlink(struct rd_job *job) {
  struct rd_target_file *file = (struct rd_target_file *)job;
  char name[RD_TEMPORARY_BYTES];
  file->size = 0;
  rd_temporary_name(file->write, file->number = atomic_fetch_add(&file->write->numbers, 1), name);
  if (atomic_load(&file->write->is_stopped))
    rd_target_file_destroy(file);
  else if (symlinkat((const char *)file->data, file->directory->fd, name) < 0)
    complete(file, rd_target_file_fail(file, errno, "cannot create the symbolic link"));
  else
    finish_new(file, name);
}

static void make_special(struct rd_job *job) {
  struct rd_target_file *file = (struct rd_target_file *)job;
  char name[RD_TEMPORARY_BYTES];
  dev_t device = (dev_t)file->size;
  file->size = 0;
  rd_temporary_name(file->write, file->number = atomic_fetch_add(&file->write->numbers, 1), name);
  file->wanted.plain_mode = rd_plain_mode(file->write, &file->wanted.metadata);
  mode_t mode = (file->wanted.metadata.mode & S_IFMT) | rd_first_mode(file->write, &file->wanted);
  if (atomic_load(&file->write->is_stopped))
    rd_target_file_destroy(file);
  else if (rd_root_is_set() && (S_ISCHR(mode) || S_ISBLK(mode)))
    complete(file, rd_target_file_fail(file, EPERM, "devices cannot be created in a served directory"));
  else if (mknodat(file->directory->fd, name, mode, device) < 0)
    complete(file, rd_target_file_fail(file, errno, "cannot create the special file"));
  else
    finish_new(file, name);
}

static void finish_new(struct rd_target_file *file, const char *name) {
  const char *text = "cannot rename it from its temporary name";
  bool is_done = set_metadata_of(file, name);
  int number = errno;
  if (!is_done)
    (void)rd_target_file_fail(file, number, "cannot set its metadata");
  else if (!(is_done = rd_rename_over(file->directory, name, file->name, &text)))
    (void)rd_target_file_fail(file, errno, text);
  if (!is_done) (void)unlinkat(file->directory->fd, name, 0);
  complete(file, is_done);
}

// Uses a descriptor of the entry itself, since another process may have put another entry in its place.
static bool set_metadata_of(struct rd_target_file *file, const char *name) {
  struct stat now;
  RD_AUTO_CLOSE int fd = openat(file->directory->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &now) < 0) return false;
  if ((now.st_mode & S_IFMT) != (file->wanted.metadata.mode & S_IFMT)) {
    errno = ESTALE;
    return false;
  }
  if (file->kind == RD_KIND_IN_PLACE && !file->write->settings->archive) file->wanted.plain_mode = now.st_mode & 07777;
  return rd_metadata_set(file->write, fd, true, &now, &file->wanted);
}

static void set_metadata(struct rd_job *job) {
  struct rd_target_file *file = (struct rd_target_file *)job;
  file->kind = RD_KIND_IN_PLACE;
  file->action = RD_ACTION_METADATA;
  file->wanted.may_have_more = true;
  bool is_done = !atomic_load(&file->write->is_stopped) && set_metadata_of(file, file->name);
  if (!is_done && !atomic_load(&file->write->is_stopped))
    (void)rd_target_file_fail(file, errno, "cannot set its metadata");
  complete(file, is_done);
}

static void complete(struct rd_target_file *file, bool is_done) {
  if (!is_done) {
    file->kind = RD_KIND_NONE;
    rd_target_file_destroy(file);
    return;
  }
  rd_write_count(file->write, &(struct rd_tree_totals){.entries = 1});
  file->kind = RD_KIND_NOTE;
  rd_target_file_forget_content(file);
  file->write->add(file->write->batches, file);
}
