// SPDX-License-Identifier: Apache-2.0
#include "target/target_file.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/io.h"
#include "base/memory.h"
#include "entry/file_digest.h"
#include "entry/partial_name.h"
#include "target/removal.h"
#include "target/slowest.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>

#define BUFFER_BYTES (1u << 20)
#define RANGES_MAX (1u << 20)
#define WRITE_BACK_BYTES (UINT64_C(8) << 20)

static void give_space_back(struct rd_target_file *file);
static bool open_unique(struct rd_target_file *file);
static bool open_partial(struct rd_target_file *file, bool *is_held);
static bool lock_partial(struct rd_target_file *file, const char *name, bool *is_held);
static bool open_in_place(struct rd_target_file *file);
static void look_at_existing(struct rd_target_file *file);
static bool set_metadata(struct rd_target_file *file);
static void temporary_of(const struct rd_target_file *file, char name[RD_TEMPORARY_BYTES]);
static bool read_back(struct rd_target_file *file, unsigned char *buffer, struct rd_digest *digest);
static bool check_resumed(const struct rd_target_file *file, bool *is_same);

struct rd_target_file *rd_target_file_create(struct rd_write *write, struct rd_directory *directory, const char *name,
                                             const struct rd_entry *entry, struct rd_attributes *attributes) {
  struct rd_target_file *file = rd_memory_new(1, sizeof *file);
  file->write = write;
  file->directory = rd_directory_use(directory);
  file->name = rd_memory_copy(name, strlen(name));
  file->source = entry->source;
  file->attributes = *attributes;
  *attributes = (struct rd_attributes){0};
  file->wanted = (struct rd_wanted_metadata){.metadata = entry->metadata, .attributes = &file->attributes};
  file->read = entry->metadata;
  file->size = entry->size;
  file->fd = file->other_fd = -1;
  atomic_store(&file->pending, 1);
  return file;
}

void rd_target_file_destroy(struct rd_target_file *file) {
  if (file == NULL) return;
  bool is_temporary = file->kind == RD_KIND_UNIQUE || file->kind == RD_KIND_PARTIAL;
  if (is_temporary && !rd_target_file_may_stay(file)) {
    char name[RD_TEMPORARY_BYTES];
    temporary_of(file, name);
    (void)unlinkat(file->directory->fd, name, 0);
  }
  rd_cleanup_fd(&file->fd);
  rd_cleanup_fd(&file->other_fd);
  rd_digest_destroy(file->running);
  rd_directory_release(file->directory);
  rd_attributes_clear(&file->attributes);
  free(file->name);
  free(file->ranges);
  free(file->data);
  free(file->resumed_digests);
  free(file);
}

bool rd_target_file_may_stay(const struct rd_target_file *file) {
  struct rd_write *write = file->write;
  pthread_mutex_lock(&write->lock);
  bool is_usable = !file->is_unusable_partial && write->settings->partial && !atomic_load(&write->is_disk_lost) &&
                   write->error.code != RD_CODE_DATA_DAMAGED;
  pthread_mutex_unlock(&write->lock);
  return is_usable && file->kind == RD_KIND_PARTIAL;
}

bool rd_target_file_open(struct rd_target_file *file, bool may_resume) {
  bool is_held = false;
  file->begin_ns = rd_now_ns();
  file->wanted.plain_mode = rd_plain_mode(file->write, &file->wanted.metadata);
  file->wanted.may_have_more = file->directory->has_default_acl;
  file->action = RD_ACTION_NEW;
  look_at_existing(file);
  if (file->write->settings->in_place)
    return open_in_place(file) || rd_target_file_fail(file, errno, "cannot open the file");
  if (may_resume && open_partial(file, &is_held)) return true;
  if (may_resume && !is_held && errno != 0) return rd_target_file_fail(file, errno, "cannot create the partial file");
  return open_unique(file) || rd_target_file_fail(file, errno, "cannot create a temporary file in its directory");
}

bool rd_target_file_write(struct rd_target_file *file, uint64_t offset, const unsigned char *bytes, size_t count) {
  uint64_t begin = offset, end = offset + count;
  while (count > 0) {
    ssize_t written = pwrite(file->fd, bytes, count, (off_t)offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return rd_target_file_fail(file, written < 0 ? errno : EIO, "cannot write");
    bytes += written;
    offset += (uint64_t)written;
    count -= (size_t)written;
  }
  // Starts writing to the disk while more arrives; otherwise everything would wait for the sync at the end.
  if (begin / WRITE_BACK_BYTES != end / WRITE_BACK_BYTES)
    (void)sync_file_range(file->fd, (off_t)(begin / WRITE_BACK_BYTES * WRITE_BACK_BYTES), WRITE_BACK_BYTES,
                          SYNC_FILE_RANGE_WRITE);
  return true;
}

size_t rd_target_file_bytes(const struct rd_target_file *file) {
  return sizeof *file + file->data_room + file->range_count * sizeof *file->ranges + file->attributes.room +
         file->resumed_count * RD_DIGEST_TREE_BYTES;
}

void rd_target_file_complete(struct rd_target_file *file) {
  struct rd_write *write = file->write;
  bool is_good = !atomic_load(&file->is_failed) && !atomic_load(&write->is_stopped);
  if (is_good && !set_metadata(file)) is_good = rd_target_file_fail(file, errno, "cannot set its metadata");
  if (!is_good) {
    rd_target_file_destroy(file);
    return;
  }
  rd_target_file_forget_content(file);
  uint64_t took_ns = (uint64_t)(rd_now_ns() - file->begin_ns);
  atomic_fetch_add(&file->directory->file_ns, took_ns);
  atomic_fetch_add(&file->directory->file_bytes, file->size);
  if (rd_slowest_wants(write->slowest, false, took_ns))
    rd_slowest_add(write->slowest, false, rd_directory_path(file->directory, file->name), file->size, took_ns);
  // Keeps a partial file open until it has its name, because its lock keeps other runs away.
  if (file->kind != RD_KIND_PARTIAL && !write->settings->verify) rd_cleanup_fd(&file->fd);
  write->add(write->batches, file);
}

void rd_target_file_forget_content(struct rd_target_file *file) {
  free(file->data);
  file->data = NULL;
  file->data_room = 0;
  rd_attributes_clear(&file->attributes);
  if (file->write->settings->verify) return;
  free(file->ranges);
  file->ranges = NULL;
  file->range_count = 0;
}

void rd_target_file_add_range(struct rd_target_file *file, uint64_t offset, uint64_t count) {
  struct rd_range *last = file->range_count == 0 ? NULL : &file->ranges[file->range_count - 1];
  if (last != NULL && last->offset + last->count == offset) {
    last->count += count;
    return;
  }
  if (file->range_count == RANGES_MAX) {
    (void)rd_target_file_fail(file, 0, "it has too many holes to be read back");
    return;
  }
  if ((file->range_count & (file->range_count - 1)) == 0)
    file->ranges = rd_memory_resize(file->ranges, 2 * file->range_count + 1, sizeof *file->ranges);
  file->ranges[file->range_count++] = (struct rd_range){offset, count};
}

bool rd_target_file_sync(struct rd_target_file *file) {
  if (fsync(file->fd) == 0) return true;
  file->is_unusable_partial = true;
  return rd_target_file_fail(file, errno, "cannot write");
}

bool rd_target_file_verify(struct rd_target_file *file) {
  struct rd_error error;
  unsigned char value[RD_DIGEST_BYTES];
  struct rd_digest *digest = rd_digest_create(&error);
  void *buffer;
  if (digest == NULL || posix_memalign(&buffer, 4096, BUFFER_BYTES) != 0) abort(); // see base/memory.h
  (void)posix_fadvise(file->fd, 0, 0, POSIX_FADV_DONTNEED);
  bool is_read = read_back(file, buffer, digest);
  int number = errno;
  rd_digest_value(digest, value);
  rd_digest_destroy(digest);
  free(buffer);
  bool is_same = is_read && memcmp(value, file->digest, sizeof value) == 0;
  if (is_same && !check_resumed(file, &is_same)) {
    is_read = false;
    number = errno;
  }
  if (!is_read) return rd_target_file_fail(file, number, "cannot read back what was written");
  if (is_same) return true;
  file->is_unusable_partial = true;
  return rd_target_file_fail(file, EIO, "the disk returns different bytes than were written");
}

bool rd_target_file_publish(struct rd_target_file *file) {
  char name[RD_TEMPORARY_BYTES];
  const char *text = "cannot rename its temporary file";
  if (file->kind == RD_KIND_UNIQUE || file->kind == RD_KIND_PARTIAL) {
    temporary_of(file, name);
    if (!rd_rename_over(file->directory, name, file->name, &text)) return rd_target_file_fail(file, errno, text);
  }
  if (file->kind != RD_KIND_NOTE)
    rd_write_count(file->write, &(struct rd_tree_totals){.entries = 1, .files = 1, .bytes = file->size});
  file->kind = RD_KIND_NOTE;
  rd_cleanup_fd(&file->fd);
  return true;
}

bool rd_target_file_fail(struct rd_target_file *file, int number, const char *text) {
  if (atomic_exchange(&file->is_failed, true)) return false;
  if (number == ENOSPC || number == EDQUOT) give_space_back(file);
  RD_AUTO_FREE char *path = rd_directory_path(file->directory, file->name);
  rd_write_failed(file->write, file->directory->fd, path, number, text);
  return false;
}

void rd_temporary_name(const struct rd_write *write, uint64_t number, char name[RD_TEMPORARY_BYTES]) {
  snprintf(name, RD_TEMPORARY_BYTES, ".rdcp-%s-%llu", write->settings->run, (unsigned long long)number);
}

bool rd_rename_over(const struct rd_directory *directory, const char *from, const char *to, const char **text) {
  int fd = directory->fd;
  if (renameat(fd, from, fd, to) == 0) return true;
  if (errno != EISDIR) return false;
  *text = "a directory is in the way";
  return rd_remove_in_the_way(directory, to) && renameat(fd, from, fd, to) == 0;
}

static bool open_unique(struct rd_target_file *file) {
  char name[RD_TEMPORARY_BYTES];
  file->number = atomic_fetch_add(&file->write->numbers, 1);
  rd_temporary_name(file->write, file->number, name);
  bool has_reader = file->write->settings->verify;
  int flags = (has_reader ? O_RDWR : O_WRONLY) | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  file->fd = openat(file->directory->fd, name, flags, rd_first_mode(file->write, &file->wanted));
  if (file->fd < 0) return false;
  file->kind = RD_KIND_UNIQUE;
  return true;
}

// Smaller files may fit, also before this one is removed.
static void give_space_back(struct rd_target_file *file) {
  bool is_temporary = file->kind == RD_KIND_UNIQUE || file->kind == RD_KIND_PARTIAL;
  file->is_unusable_partial = true;
  if (is_temporary && file->fd >= 0) (void)!ftruncate(file->fd, 0);
}

// Returns false with errno, or with errno 0 if the existing file cannot be continued.
static bool open_partial(struct rd_target_file *file, bool *is_held) {
  char name[RD_PARTIAL_NAME_BYTES];
  rd_partial_name(rd_bytes_of(file->name), name);
  for (int tries = 0; tries < 3; tries++) {
    file->fd = openat(file->directory->fd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (file->fd < 0) return false;
    if (lock_partial(file, name, is_held)) {
      file->kind = RD_KIND_PARTIAL;
      return true;
    }
    if (*is_held) {
      file->other_fd = rd_take_fd(&file->fd);
      return false;
    }
    rd_cleanup_fd(&file->fd);
  }
  errno = 0;
  return false;
}

// Returns false if another run writes to the file (*is_held), or if it cannot be continued. That run may have renamed
// it since it was opened.
static bool lock_partial(struct rd_target_file *file, const char *name, bool *is_held) {
  struct stat now, named;
  *is_held = flock(file->fd, LOCK_EX | LOCK_NB) < 0;
  if (*is_held || fstat(file->fd, &now) < 0) return false;
  if (!S_ISREG(now.st_mode) || now.st_nlink != 1 || now.st_uid != file->write->user) return false;
  if (fstatat(file->directory->fd, name, &named, AT_SYMLINK_NOFOLLOW) < 0) return false;
  return named.st_ino == now.st_ino && named.st_dev == now.st_dev;
}

static bool open_in_place(struct rd_target_file *file) {
  struct stat now;
  int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  file->fd = openat(file->directory->fd, file->name, flags, rd_first_mode(file->write, &file->wanted));
  if (file->fd < 0 || fstat(file->fd, &now) < 0) return false;
  errno = EINVAL;
  if (!S_ISREG(now.st_mode) || ftruncate(file->fd, 0) < 0) return false;
  file->kind = RD_KIND_IN_PLACE;
  file->wanted.may_have_more = true;
  return true;
}

// Without `archive`, a file that is replaced passes its mode on to the new one.
static void look_at_existing(struct rd_target_file *file) {
  struct stat now;
  bool is_asked = !file->write->settings->archive || file->write->settings->paths;
  if (!is_asked || file->directory->is_new) return;
  if (fstatat(file->directory->fd, file->name, &now, AT_SYMLINK_NOFOLLOW) < 0) return;
  file->action = RD_ACTION_CHANGED;
  if (S_ISREG(now.st_mode)) file->wanted.plain_mode = now.st_mode & 0777;
}

static bool set_metadata(struct rd_target_file *file) {
  struct stat now;
  // A new file has the owner of this process and the mode that it was created with, unless its directory gives it an
  // ACL.
  bool archive = file->write->settings->archive;
  bool is_right = file->kind == RD_KIND_UNIQUE && !archive && !file->directory->has_default_acl;
  if (!is_right && fstat(file->fd, &now) < 0) return false;
  return rd_metadata_set(file->write, file->fd, false, is_right ? NULL : &now, &file->wanted);
}

static void temporary_of(const struct rd_target_file *file, char name[RD_TEMPORARY_BYTES]) {
  if (file->kind == RD_KIND_PARTIAL)
    rd_partial_name(rd_bytes_of(file->name), name);
  else
    rd_temporary_name(file->write, file->number, name);
}

static bool read_back(struct rd_target_file *file, unsigned char *buffer, struct rd_digest *digest) {
  for (size_t i = 0; i < file->range_count; i++)
    for (uint64_t at = 0; at < file->ranges[i].count;) {
      uint64_t left = file->ranges[i].count - at;
      size_t most = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;
      ssize_t count = pread(file->fd, buffer, most, (off_t)(file->ranges[i].offset + at));
      if (count < 0 && errno == EINTR) continue;
      errno = count == 0 ? EIO : errno;
      if (count <= 0) return false;
      rd_digest_update(digest, buffer, (size_t)count);
      at += (uint64_t)count;
    }
  return true;
}

// Checks the blocks that an interrupted copy left. Returns false if one cannot be read.
static bool check_resumed(const struct rd_target_file *file, bool *is_same) {
  unsigned char value[RD_DIGEST_TREE_BYTES];
  for (size_t i = 0; i < file->resumed_count && *is_same; i++) {
    if (!rd_file_digest(file->fd, i * file->resumed_block_bytes, file->resumed_block_bytes, value)) return false;
    *is_same = memcmp(value, file->resumed_digests + i * sizeof value, sizeof value) == 0;
  }
  return true;
}
