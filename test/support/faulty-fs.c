// SPDX-License-Identifier: Apache-2.0
// A FUSE file system over the directory BACKING: faulty-fs BACKING MOUNT_POINT.
// The first part of a path selects a fault:
//   read/…   reading from 1 MiB on fails (EIO)     write/… writing from 1 MiB on fails (EIO)
//   fsync/…  fsync fails (EIO)                     close/… closing a file over 1 MiB fails (ENOSPC)
//   rename/… rename fails (EIO)                    slow/…  fsync takes 8 s
// Other paths have no fault.
#define FUSE_USE_VERSION 31
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define GOOD_BYTES (1 << 20)
#define SLOW_S 8u

static int backing_fd;

static const char *under(const char *path) {
  return path[1] == '\0' ? "." : path + 1;
}

// `path` is NULL if the file was removed while open.
static bool goes_wrong_at(const char *path, const char *what) {
  if (path == NULL) return false;
  size_t length = strlen(what);
  return strncmp(path + 1, what, length) == 0 && path[1 + length] == '/';
}

static int result(long done) {
  return done < 0 ? -errno : (int)done;
}

static void *start(struct fuse_conn_info *connection, struct fuse_config *config) {
  (void)connection;
  config->hard_remove = 1; // really remove open files, instead of renaming them
  return NULL;
}

static int get_attributes(const char *path, struct stat *status, struct fuse_file_info *file) {
  if (file != NULL) return result(fstat((int)file->fh, status));
  return result(fstatat(backing_fd, under(path), status, AT_SYMLINK_NOFOLLOW));
}

static int list(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *file,
                enum fuse_readdir_flags flags) {
  (void)offset, (void)file, (void)flags;
  int fd = openat(backing_fd, under(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *directory = fd < 0 ? NULL : fdopendir(fd);
  if (directory == NULL) return -errno;
  for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) fill(buffer, entry->d_name, NULL, 0, 0);
  closedir(directory);
  return 0;
}

static int keep_open(struct fuse_file_info *file, int fd) {
  if (fd < 0) return -errno;
  file->fh = (uint64_t)fd;
  file->direct_io = 1; // pass every read and write on without caching
  return 0;
}

static int open_file(const char *path, struct fuse_file_info *file) {
  return keep_open(file, openat(backing_fd, under(path), (file->flags & ~O_APPEND) | O_CLOEXEC));
}

static int create_file(const char *path, mode_t mode, struct fuse_file_info *file) {
  return keep_open(file, openat(backing_fd, under(path), (file->flags & ~O_APPEND) | O_CREAT | O_CLOEXEC, mode));
}

static int read_bytes(const char *path, char *bytes, size_t count, off_t offset, struct fuse_file_info *file) {
  if (goes_wrong_at(path, "read") && offset + (off_t)count > GOOD_BYTES) {
    if (offset >= GOOD_BYTES) return -EIO;
    count = (size_t)(GOOD_BYTES - offset);
  }
  return result(pread((int)file->fh, bytes, count, offset));
}

static int write_bytes(const char *path, const char *bytes, size_t count, off_t offset, struct fuse_file_info *file) {
  if (goes_wrong_at(path, "write") && offset + (off_t)count > GOOD_BYTES) {
    if (offset >= GOOD_BYTES) return -EIO;
    count = (size_t)(GOOD_BYTES - offset);
  }
  return result(pwrite((int)file->fh, bytes, count, offset));
}

static int make_permanent(const char *path, int data_only, struct fuse_file_info *file) {
  (void)data_only, (void)file;
  if (goes_wrong_at(path, "slow")) sleep(SLOW_S);
  return goes_wrong_at(path, "fsync") ? -EIO : 0;
}

static int close_descriptor(const char *path, struct fuse_file_info *file) {
  struct stat status;
  bool too_much = fstat((int)file->fh, &status) == 0 && status.st_size > GOOD_BYTES;
  return too_much && goes_wrong_at(path, "close") ? -ENOSPC : 0;
}

static int forget(const char *path, struct fuse_file_info *file) {
  (void)path;
  return result(close((int)file->fh));
}

static int remove_name(const char *path) {
  return result(unlinkat(backing_fd, under(path), 0));
}

static int rename_file(const char *from, const char *to, unsigned flags) {
  if (flags != 0) return -EINVAL;
  return goes_wrong_at(from, "rename") ? -EIO : result(renameat(backing_fd, under(from), backing_fd, under(to)));
}

static int cut(const char *path, off_t length, struct fuse_file_info *file) {
  if (file != NULL) return result(ftruncate((int)file->fh, length));
  int fd = openat(backing_fd, under(path), O_WRONLY | O_CLOEXEC);
  int cut = fd < 0 ? -errno : result(ftruncate(fd, length));
  if (fd >= 0) close(fd);
  return cut;
}

static int change_mode(const char *path, mode_t mode, struct fuse_file_info *file) {
  (void)file;
  return result(fchmodat(backing_fd, under(path), mode, 0));
}

static int change_owner(const char *path, uid_t user, gid_t group, struct fuse_file_info *file) {
  (void)file;
  return result(fchownat(backing_fd, under(path), user, group, AT_SYMLINK_NOFOLLOW));
}

static const struct fuse_operations operations = {
    .init = start,
    .getattr = get_attributes,
    .readdir = list,
    .open = open_file,
    .create = create_file,
    .read = read_bytes,
    .write = write_bytes,
    .fsync = make_permanent,
    .flush = close_descriptor,
    .release = forget,
    .unlink = remove_name,
    .rename = rename_file,
    .truncate = cut,
    .chmod = change_mode,
    .chown = change_owner,
};

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  backing_fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (backing_fd < 0) {
    perror(argv[1]);
    return 1;
  }
  prctl(PR_SET_PDEATHSIG, SIGTERM); // unmount also if the test is killed
  char foreground[] = "-f", single[] = "-s";
  char *arguments[] = {argv[0], foreground, single, argv[2], NULL};
  return fuse_main(4, arguments, &operations, NULL);
}
