// SPDX-License-Identifier: Apache-2.0
#include "sink/atomic_file.h"

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/io.h"
#include "base/memory.h"
#include "sink/file_metadata.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

#define NAME_TRIES 100

struct rd_atomic_file {
  const char *path; // for messages
  const struct rd_resolved_path *resolved;
  int directory_fd; // the directory of `resolved`, reopened for fsync()
  int fd;
  mode_t mode;     // set at commit
  char hidden[64]; // the temporary name; empty: none
  bool committed;
};

static bool open_directory(struct rd_atomic_file *atomic_file, struct rd_error *error);
static bool open_file(struct rd_atomic_file *atomic_file, struct rd_error *error);
static bool open_nameless(struct rd_atomic_file *atomic_file);
static bool open_hidden(struct rd_atomic_file *atomic_file, mode_t mode);
static bool make_hidden_name(char *name, size_t bytes);
static bool take_metadata(struct rd_atomic_file *atomic_file, struct rd_error *error);
static void remove_hidden(struct rd_atomic_file *atomic_file);
static bool link_hidden(struct rd_atomic_file *atomic_file);
static bool unwritable(const struct rd_atomic_file *atomic_file, const char *what, struct rd_error *error);

struct rd_atomic_file *rd_atomic_file_open(const struct rd_resolved_path *resolved, const char *path,
                                           struct rd_error *error) {
  struct rd_atomic_file *atomic_file = rd_memory_new(1, sizeof *atomic_file);
  *atomic_file = (struct rd_atomic_file){.path = path, .resolved = resolved, .directory_fd = -1, .fd = -1};
  if (open_directory(atomic_file, error) && open_file(atomic_file, error)) return atomic_file;
  rd_atomic_file_destroy(atomic_file);
  return NULL;
}

void rd_atomic_file_destroy(struct rd_atomic_file *atomic_file) {
  if (atomic_file == NULL) return;
  if (!atomic_file->committed) remove_hidden(atomic_file);
  rd_cleanup_fd(&atomic_file->fd);
  rd_cleanup_fd(&atomic_file->directory_fd);
  free(atomic_file);
}

int rd_atomic_file_fd(const struct rd_atomic_file *atomic_file) {
  return atomic_file->fd;
}

bool rd_atomic_file_commit(struct rd_atomic_file *atomic_file, struct rd_error *error) {
  int directory_fd = atomic_file->directory_fd;
  if (fchmod(atomic_file->fd, atomic_file->mode) < 0) return unwritable(atomic_file, "cannot set the mode of", error);
  if (!rd_make_permanent(atomic_file->fd)) return unwritable(atomic_file, "cannot write", error);
  if (atomic_file->hidden[0] == '\0' && !link_hidden(atomic_file))
    return unwritable(atomic_file, "cannot give a name to", error);
  if (renameat(directory_fd, atomic_file->hidden, directory_fd, atomic_file->resolved->name) < 0)
    return unwritable(atomic_file, "cannot replace", error);
  atomic_file->committed = true;
  if (fsync(directory_fd) < 0 && errno != EINVAL)
    return unwritable(atomic_file, "cannot write the directory of", error);
  return true;
}

static bool open_directory(struct rd_atomic_file *atomic_file, struct rd_error *error) {
  atomic_file->directory_fd = openat(atomic_file->resolved->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return atomic_file->directory_fd >= 0 || unwritable(atomic_file, "cannot open the directory of", error);
}

// An empty file shows which mode a new file gets in this directory (umask, default ACL), and which metadata of the old
// file can be kept. The data goes into a file that only its owner may open. An empty file with a name may already have
// been opened by other users, so it is removed and another one is created.
static bool open_file(struct rd_atomic_file *atomic_file, struct rd_error *error) {
  bool exists = atomic_file->resolved->exists;
  bool is_nameless = open_nameless(atomic_file);
  if (!is_nameless && !open_hidden(atomic_file, exists ? 0600 : 0666))
    return unwritable(atomic_file, "cannot create a temporary file next to", error);
  if (exists && !take_metadata(atomic_file, error)) return false;
  struct stat status;
  if (fstat(atomic_file->fd, &status) < 0)
    return unwritable(atomic_file, "cannot read the mode of the temporary file next to", error);
  atomic_file->mode = status.st_mode & 07777;
  if (!is_nameless && !exists) {
    remove_hidden(atomic_file);
    rd_cleanup_fd(&atomic_file->fd);
    if (!open_hidden(atomic_file, 0600))
      return unwritable(atomic_file, "cannot create a temporary file next to", error);
  }
  return fchmod(atomic_file->fd, 0600) == 0 ||
         unwritable(atomic_file, "cannot set the mode of the temporary file next to", error);
}

// The kernel removes a nameless file if this process is killed. Giving it a name needs /proc.
static bool open_nameless(struct rd_atomic_file *atomic_file) {
  if (access("/proc/self/fd", X_OK) < 0) return false;
  atomic_file->fd = openat(atomic_file->directory_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  return atomic_file->fd >= 0;
}

static bool open_hidden(struct rd_atomic_file *atomic_file, mode_t mode) {
  for (int i = 0; i < NAME_TRIES; i++) {
    if (!make_hidden_name(atomic_file->hidden, sizeof atomic_file->hidden)) break;
    atomic_file->fd =
        openat(atomic_file->directory_fd, atomic_file->hidden, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (atomic_file->fd >= 0) return true;
    if (errno != EEXIST) break;
  }
  atomic_file->hidden[0] = '\0';
  return false;
}

static bool make_hidden_name(char *name, size_t bytes) {
  unsigned char random[12];
  char digits[2 * sizeof random + 1];
  if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) return false;
  rd_hex_encode(random, sizeof random, digits, sizeof digits);
  snprintf(name, bytes, ".rdrecv-%s", digits);
  return true;
}

// Does not replace a file that this user may not write. The attributes are read from a descriptor opened for reading
// or, if that is not allowed, for writing.
static bool take_metadata(struct rd_atomic_file *atomic_file, struct rd_error *error) {
  const struct rd_resolved_path *resolved = atomic_file->resolved;
  if (faccessat(resolved->directory_fd, resolved->name, W_OK, AT_EACCESS) < 0)
    return unwritable(atomic_file, "cannot write", error);
  RD_AUTO_CLOSE int fd = rd_resolved_path_open(resolved, O_RDONLY | O_NONBLOCK);
  if (fd < 0 && errno == EACCES) fd = rd_resolved_path_open(resolved, O_WRONLY | O_NONBLOCK);
  if (fd < 0) return unwritable(atomic_file, "cannot read the attributes of", error);
  return rd_file_metadata_copy(fd, atomic_file->fd, atomic_file->path, error);
}

static void remove_hidden(struct rd_atomic_file *atomic_file) {
  if (atomic_file->hidden[0] != '\0') unlinkat(atomic_file->directory_fd, atomic_file->hidden, 0);
  atomic_file->hidden[0] = '\0';
}

static bool link_hidden(struct rd_atomic_file *atomic_file) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", atomic_file->fd);
  for (int i = 0; i < NAME_TRIES; i++) {
    if (!make_hidden_name(atomic_file->hidden, sizeof atomic_file->hidden)) break;
    if (linkat(AT_FDCWD, link, atomic_file->directory_fd, atomic_file->hidden, AT_SYMLINK_FOLLOW) == 0) return true;
    if (errno != EEXIST) break;
  }
  atomic_file->hidden[0] = '\0';
  return false;
}

static bool unwritable(const struct rd_atomic_file *atomic_file, const char *what, struct rd_error *error) {
  rd_error_set_errno(error, RD_CODE_SINK_UNWRITABLE, "%s %.300s", what, atomic_file->path);
  return false;
}
