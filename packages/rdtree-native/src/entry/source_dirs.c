// SPDX-License-Identifier: Apache-2.0
#include "entry/source_dirs.h"

#include "base/memory.h"
#include "entry/root.h"
#include "entry/source_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rd_source_dir {
  struct rd_source_dir *above;
  int fd;             // -1: not opened yet, or could not be opened
  int number;         // errno if it could not be opened
  atomic_uint users;  // references: of the stack, of directories below it, and of others
  size_t shown_count; // length of its path in `shown`
  char name[];
};

struct rd_source_dirs {
  int access; // O_RDONLY, O_PATH
  struct rd_source_dir *top;
  unsigned depth;
  struct rd_source_path source;
  char *shown; // the path of `top` for messages, with memory for a name
  size_t shown_count, shown_room;
  size_t source_count; // length of the source's path in `shown`
};

static void leave_all(struct rd_source_dirs *directories);
static void push(struct rd_source_dirs *directories, const char *name, size_t count);
static int open_directory(struct rd_source_dir *directory, int access);
static void append(struct rd_source_dirs *directories, const unsigned char *bytes, size_t count);

struct rd_source_dirs *rd_source_dirs_create(bool lists) {
  struct rd_source_dirs *directories = rd_memory_new(1, sizeof *directories);
  directories->access = lists ? O_RDONLY : O_PATH;
  return directories;
}

void rd_source_dirs_destroy(struct rd_source_dirs *directories) {
  if (directories == NULL) return;
  leave_all(directories);
  rd_source_path_clear(&directories->source);
  free(directories->shown);
  free(directories);
}

void rd_source_dirs_begin(struct rd_source_dirs *directories, const char *source) {
  leave_all(directories);
  rd_source_path_clear(&directories->source);
  bool is_path = rd_source_path_parse(source, &directories->source);
  int number = errno;
  directories->shown_count = 0;
  append(directories, (const unsigned char *)source, rd_source_path_shown(source));
  directories->source_count = directories->shown_count;
  push(directories, "", 0);
  if (is_path) directories->top->fd = rd_root_open(directories->source.above, O_PATH | O_DIRECTORY);
  if (directories->top->fd < 0) directories->top->number = is_path ? errno : number;
}

struct rd_bytes rd_source_dirs_source_name(const struct rd_source_dirs *directories) {
  return rd_bytes_of(directories->source.name == NULL ? "" : directories->source.name);
}

void rd_source_dirs_enter(struct rd_source_dirs *directories, struct rd_bytes name) {
  if (directories->depth > 0) {
    append(directories, (const unsigned char *)"/", 1);
    append(directories, name.at, name.count);
  }
  directories->depth++;
  if (name.count == 0)
    push(directories, ".", 1);
  else
    push(directories, (const char *)name.at, name.count);
}

void rd_source_dirs_leave(struct rd_source_dirs *directories) {
  struct rd_source_dir *left = directories->top;
  directories->top = left->above;
  atomic_fetch_add(&directories->top->users, 1);
  directories->depth--;
  directories->shown_count = directories->top->shown_count;
  rd_source_dir_release(left);
}

unsigned rd_source_dirs_depth(const struct rd_source_dirs *directories) {
  return directories->depth;
}

int rd_source_dirs_fd(struct rd_source_dirs *directories) {
  return open_directory(directories->top, directories->access);
}

const char *rd_source_dirs_shown(struct rd_source_dirs *directories, struct rd_bytes name) {
  size_t count = directories->shown_count;
  if (directories->depth > 0 && name.count > 0) {
    append(directories, (const unsigned char *)"/", 1);
    append(directories, name.at, name.count);
  }
  directories->shown[directories->shown_count] = '\0';
  directories->shown_count = count;
  // The path "/" is kept as "", to which "/name" can be appended.
  return *directories->shown == '\0' ? "/" : directories->shown;
}

struct rd_bytes rd_source_dirs_below(struct rd_source_dirs *directories, struct rd_bytes name) {
  if (directories->depth == 0) return (struct rd_bytes){0};
  (void)rd_source_dirs_shown(directories, name);
  const char *below = directories->shown + directories->source_count;
  return rd_bytes_of(*below == '/' ? below + 1 : below);
}

struct rd_source_dir *rd_source_dirs_keep(struct rd_source_dirs *directories) {
  if (open_directory(directories->top, directories->access) < 0) return NULL;
  atomic_fetch_add(&directories->top->users, 1);
  return directories->top;
}

int rd_source_dir_fd(const struct rd_source_dir *directory) {
  return directory->fd;
}

void rd_source_dir_release(struct rd_source_dir *directory) {
  while (directory != NULL && atomic_fetch_sub(&directory->users, 1) == 1) {
    struct rd_source_dir *above = directory->above;
    if (directory->fd >= 0) close(directory->fd);
    free(directory);
    directory = above;
  }
}

static void leave_all(struct rd_source_dirs *directories) {
  rd_source_dir_release(directories->top);
  directories->top = NULL;
  directories->depth = 0;
}

// The stack has a reference to the innermost directory only; each directory has one to its parent.
static void push(struct rd_source_dirs *directories, const char *name, size_t count) {
  struct rd_source_dir *directory = rd_memory_new(1, sizeof *directory + count + 1);
  memcpy(directory->name, name, count);
  directory->above = directories->top;
  directory->fd = -1;
  directory->users = 1;
  directory->shown_count = directories->shown_count;
  directories->top = directory;
}

// Opens the directories above it first. A single name needs no openat2(): it has no slash and is not "..", so with
// O_NOFOLLOW it cannot lead out.
static int open_directory(struct rd_source_dir *directory, int access) {
  if (directory->fd >= 0) return directory->fd;
  if (directory->number == 0) {
    int above = open_directory(directory->above, access);
    if (above >= 0) directory->fd = openat(above, directory->name, access | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory->fd < 0) directory->number = errno;
  }
  errno = directory->number;
  return directory->fd;
}

static void append(struct rd_source_dirs *directories, const unsigned char *bytes, size_t count) {
  if (directories->shown_room - directories->shown_count <= count) {
    directories->shown_room = 2 * (directories->shown_room + count + RD_NAME_MAX_BYTES);
    directories->shown = rd_memory_resize(directories->shown, directories->shown_room, 1);
  }
  if (count > 0) memcpy(directories->shown + directories->shown_count, bytes, count);
  directories->shown_count += count;
}
