// SPDX-License-Identifier: Apache-2.0
#include "target/directory.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "target/slowest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static atomic_uint open_count;

static char *path_of(const struct rd_directory *directory, const struct rd_directory *end, const char *name);
static void prepend(char **begin, const char *part);
static int open_each(int top, const char *path);
static int open_closed(int parent, const char *name, mode_t *mode_before);

struct rd_directory *rd_directory_create(struct rd_write *write, struct rd_directory *parent, const char *name, int fd,
                                         bool is_new) {
  struct stat now = {0};
  struct rd_directory *directory = rd_memory_new(1, sizeof *directory);
  directory->write = write;
  directory->parent = parent == NULL ? NULL : rd_directory_use(parent);
  directory->name = rd_memory_copy(name, strlen(name));
  directory->fd = fd;
  directory->is_new = is_new;
  if (fstat(fd, &now) == 0) directory->device = now.st_dev;
  bool may_have_acl = !is_new || parent == NULL || parent->has_default_acl;
  directory->has_default_acl = may_have_acl && fgetxattr(fd, "system.posix_acl_default", NULL, 0) > 0;
  atomic_store(&directory->uses, 1);
  atomic_fetch_add(&open_count, 1);
  return directory;
}

struct rd_directory *rd_directory_use(struct rd_directory *directory) {
  atomic_fetch_add(&directory->uses, 1);
  return directory;
}

void rd_directory_release(struct rd_directory *directory) {
  while (directory != NULL && atomic_fetch_sub(&directory->uses, 1) == 1) {
    struct rd_directory *parent = directory->parent;
    uint64_t ns = atomic_load(&directory->file_ns);
    struct rd_slowest *slowest = directory->write->slowest;
    if (rd_slowest_wants(slowest, true, ns))
      rd_slowest_add(slowest, true, rd_directory_path(directory, NULL), atomic_load(&directory->file_bytes), ns);
    close(directory->fd);
    free(directory->name);
    free(directory);
    atomic_fetch_sub(&open_count, 1);
    directory = parent;
  }
}

unsigned rd_directories_open(void) {
  return atomic_load(&open_count);
}

char *rd_directory_path(const struct rd_directory *directory, const char *name) {
  return path_of(directory, NULL, name);
}

char *rd_directory_below_top(const struct rd_directory *directory, const char *name) {
  const struct rd_directory *top = directory;
  while (top->parent != NULL) top = top->parent;
  return path_of(directory, top, name);
}

char *rd_directory_below_source(const struct rd_directory *directory, const char *name, uint32_t *source) {
  const struct rd_directory *top = directory;
  while (top->parent != NULL && !top->is_source) top = top->parent;
  *source = top->source;
  return path_of(directory, top, name);
}

int rd_open_below(int top, const char *path) {
  if (*path == '\0') return openat(top, ".", OPEN_FLAGS);
  struct open_how how = {.flags = OPEN_FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
  int fd = strlen(path) < PATH_MAX ? (int)syscall(SYS_openat2, top, path, &how, sizeof how) : -1;
  // Old kernels lack openat2(), and some system call filters reject it.
  return fd >= 0 || (strlen(path) < PATH_MAX && errno != ENOSYS && errno != EPERM) ? fd : open_each(top, path);
}

int rd_directory_open(const struct rd_directory *parent, const char *name, bool *is_new, mode_t *mode_before) {
  struct stat before;
  *is_new = mkdirat(parent->fd, name, 0700) == 0;
  if (!*is_new && errno != EEXIST) return -1;
  int fd = openat(parent->fd, name, OPEN_FLAGS);
  if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) {
    if (unlinkat(parent->fd, name, 0) < 0 || mkdirat(parent->fd, name, 0700) < 0) return -1;
    *is_new = true;
    fd = openat(parent->fd, name, OPEN_FLAGS);
  }
  if (fd < 0 && errno == EACCES) return open_closed(parent->fd, name, mode_before);
  if (fd < 0 || fstat(fd, &before) < 0) return -1;
  *mode_before = before.st_mode & 07777;
  // The owner needs access until everything is in place; then the final mode is set.
  if (!*is_new && geteuid() != 0 && before.st_uid == geteuid() && (before.st_mode & 0700) != 0700)
    (void)fchmod(fd, (before.st_mode & 07777) | 0700);
  return fd;
}

// Opens a directory that its owner may not read. Uses a descriptor for its path, because chmod() would follow a
// symbolic link.
static int open_closed(int parent, const char *name, mode_t *mode_before) {
  struct stat now;
  char path[64];
  RD_AUTO_CLOSE int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &now) < 0) return -1;
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  if (chmod(path, (now.st_mode & 07777) | 0700) < 0) return -1;
  *mode_before = now.st_mode & 07777;
  return openat(parent, name, OPEN_FLAGS);
}

static int open_each(int top, const char *path) {
  RD_AUTO_CLOSE int fd = openat(top, ".", OPEN_FLAGS);
  while (fd >= 0 && *path != '\0') {
    size_t count = strcspn(path, "/");
    RD_AUTO_FREE char *name = rd_memory_copy(path, count);
    bool leads_out = strcmp(name, "..") == 0;
    int below = leads_out ? -1 : openat(fd, name, OPEN_FLAGS);
    if (leads_out) errno = EXDEV; // as openat2() does
    rd_cleanup_fd(&fd);
    fd = below;
    path += count + (path[count] == '/');
  }
  return rd_take_fd(&fd);
}

// Joins the names below `end` (NULL: including the top's) down to `directory`, and `name`, with slashes.
static char *path_of(const struct rd_directory *directory, const struct rd_directory *end, const char *name) {
  size_t bytes = (name == NULL ? 0 : strlen(name)) + 2;
  for (const struct rd_directory *at = directory; at != end; at = at->parent) bytes += strlen(at->name) + 1;
  char *path = rd_memory_new(bytes, 1), *begin = path + bytes - 1;
  if (name != NULL) prepend(&begin, name);
  for (const struct rd_directory *at = directory; at != end; at = at->parent) prepend(&begin, at->name);
  memmove(path, begin, strlen(begin) + 1);
  return path;
}

static void prepend(char **begin, const char *part) {
  size_t count = strlen(part);
  if (count == 0) return;
  if (**begin != '\0' && part[count - 1] != '/') *--*begin = '/';
  *begin -= count;
  memcpy(*begin, part, count);
}
