// SPDX-License-Identifier: Apache-2.0
#include "entry/folders.h"

#include "base/memory.h"
#include "entry/root.h"
#include "entry/source_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rd_folder {
  struct rd_folder *above;
  int fd;             // -1: not opened so far, or not to be opened
  int number;         // errno of opening it
  atomic_uint users;  // the stack, those below it, and others
  size_t shown_count; // bytes of `shown` that name it
  char name[];
};

struct rd_folders {
  int access; // O_RDONLY, O_PATH
  struct rd_folder *top;
  unsigned depth;
  struct rd_source_path source;
  char *shown; // the path of `top`, as people know it, and room for a name
  size_t shown_count, shown_room;
  size_t source_count; // bytes of `shown` that are the source's
};

static void leave_all(struct rd_folders *folders);
static void push(struct rd_folders *folders, const char *name, size_t count);
static int open_folder(struct rd_folder *folder, int access);
static void append(struct rd_folders *folders, const unsigned char *bytes, size_t count);

struct rd_folders *rd_folders_create(bool lists) {
  struct rd_folders *folders = rd_memory_new(1, sizeof *folders);
  folders->access = lists ? O_RDONLY : O_PATH;
  return folders;
}

void rd_folders_destroy(struct rd_folders *folders) {
  if (folders == NULL) return;
  leave_all(folders);
  rd_source_path_clear(&folders->source);
  free(folders->shown);
  free(folders);
}

void rd_folders_begin(struct rd_folders *folders, const char *source) {
  leave_all(folders);
  rd_source_path_clear(&folders->source);
  bool is_path = rd_source_path_parse(source, &folders->source);
  int number = errno;
  folders->shown_count = 0;
  append(folders, (const unsigned char *)source, rd_source_path_shown(source));
  folders->source_count = folders->shown_count;
  push(folders, "", 0);
  if (is_path) folders->top->fd = rd_root_open(folders->source.above, O_PATH | O_DIRECTORY);
  if (folders->top->fd < 0) folders->top->number = is_path ? errno : number;
}

struct rd_bytes rd_folders_source_name(const struct rd_folders *folders) {
  return rd_bytes_of(folders->source.name == NULL ? "" : folders->source.name);
}

void rd_folders_enter(struct rd_folders *folders, struct rd_bytes name) {
  if (folders->depth > 0) {
    append(folders, (const unsigned char *)"/", 1);
    append(folders, name.at, name.count);
  }
  folders->depth++;
  if (name.count == 0)
    push(folders, ".", 1);
  else
    push(folders, (const char *)name.at, name.count);
}

void rd_folders_leave(struct rd_folders *folders) {
  struct rd_folder *left = folders->top;
  folders->top = left->above;
  atomic_fetch_add(&folders->top->users, 1);
  folders->depth--;
  folders->shown_count = folders->top->shown_count;
  rd_folder_release(left);
}

unsigned rd_folders_depth(const struct rd_folders *folders) {
  return folders->depth;
}

int rd_folders_fd(struct rd_folders *folders) {
  return open_folder(folders->top, folders->access);
}

const char *rd_folders_shown(struct rd_folders *folders, struct rd_bytes name) {
  size_t count = folders->shown_count;
  if (folders->depth > 0 && name.count > 0) {
    append(folders, (const unsigned char *)"/", 1);
    append(folders, name.at, name.count);
  }
  folders->shown[folders->shown_count] = '\0';
  folders->shown_count = count;
  // Of "/" nothing is left, to which "/name" could be added.
  return *folders->shown == '\0' ? "/" : folders->shown;
}

struct rd_bytes rd_folders_below(struct rd_folders *folders, struct rd_bytes name) {
  if (folders->depth == 0) return (struct rd_bytes){0};
  (void)rd_folders_shown(folders, name);
  const char *below = folders->shown + folders->source_count;
  return rd_bytes_of(*below == '/' ? below + 1 : below);
}

struct rd_folder *rd_folders_keep(struct rd_folders *folders) {
  if (open_folder(folders->top, folders->access) < 0) return NULL;
  atomic_fetch_add(&folders->top->users, 1);
  return folders->top;
}

int rd_folder_fd(const struct rd_folder *folder) {
  return folder->fd;
}

void rd_folder_release(struct rd_folder *folder) {
  while (folder != NULL && atomic_fetch_sub(&folder->users, 1) == 1) {
    struct rd_folder *above = folder->above;
    if (folder->fd >= 0) close(folder->fd);
    free(folder);
    folder = above;
  }
}

static void leave_all(struct rd_folders *folders) {
  rd_folder_release(folders->top);
  folders->top = NULL;
  folders->depth = 0;
}

// The stack uses the topmost one only, which uses the one above it.
static void push(struct rd_folders *folders, const char *name, size_t count) {
  struct rd_folder *folder = rd_memory_new(1, sizeof *folder + count + 1);
  memcpy(folder->name, name, count);
  folder->above = folders->top;
  folder->fd = -1;
  folder->users = 1;
  folder->shown_count = folders->shown_count;
  folders->top = folder;
}

// Opens those above it first. A name of one directory needs no openat2(): it has no slash and is not "..", so
// O_NOFOLLOW alone keeps it beneath.
static int open_folder(struct rd_folder *folder, int access) {
  if (folder->fd >= 0) return folder->fd;
  if (folder->number == 0) {
    int above = open_folder(folder->above, access);
    if (above >= 0) folder->fd = openat(above, folder->name, access | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder->fd < 0) folder->number = errno;
  }
  errno = folder->number;
  return folder->fd;
}

static void append(struct rd_folders *folders, const unsigned char *bytes, size_t count) {
  if (folders->shown_room - folders->shown_count <= count) {
    folders->shown_room = 2 * (folders->shown_room + count + RD_NAME_MAX_BYTES);
    folders->shown = rd_memory_resize(folders->shown, folders->shown_room, 1);
  }
  if (count > 0) memcpy(folders->shown + folders->shown_count, bytes, count);
  folders->shown_count += count;
}
