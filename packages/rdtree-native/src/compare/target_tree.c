// SPDX-License-Identifier: Apache-2.0
#include "compare/target_tree.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "entry/metadata.h"

#include <fcntl.h>

struct level {
  int fd;            // -1: missing
  size_t path_bytes; // of the tree's path: it ends here
};

struct rd_target_tree {
  char *shown_target; // without slashes at its end
  char *as_name;      // RD_PLACE_AS: of the only entry; else NULL
  struct level *levels;
  size_t count, room;
  char *path; // names below the target, joined by slashes
  size_t path_room;
};

static void push(struct rd_target_tree *tree, int fd, size_t path_bytes);
static const struct level *top(const struct rd_target_tree *tree);
static int open_directory(const struct rd_target_tree *tree, struct rd_bytes name);
static const char *text_of(struct rd_bytes name, char text[RD_NAME_MAX_BYTES + 1]);
static size_t extend_path(struct rd_target_tree *tree, struct rd_bytes name);
static char *join(struct rd_bytes one, struct rd_bytes other);

struct rd_target_tree *rd_target_tree_create(const char *path, struct rd_target *target) {
  struct rd_target_tree *tree = rd_memory_new(1, sizeof *tree);
  size_t bytes = strlen(path);
  while (bytes > 0 && path[bytes - 1] == '/') bytes--;
  tree->shown_target = rd_memory_copy(path, bytes);
  if (target->name != NULL) tree->as_name = rd_memory_copy(target->name, strlen(target->name));
  push(tree, rd_take_fd(&target->directory_fd), 0);
  return tree;
}

void rd_target_tree_destroy(struct rd_target_tree *tree) {
  if (tree == NULL) return;
  while (tree->count > 0) rd_target_tree_leave(tree);
  free(tree->shown_target);
  free(tree->as_name);
  free(tree->levels);
  free(tree->path);
  free(tree);
}

bool rd_target_tree_enter(struct rd_target_tree *tree, struct rd_bytes name, struct statx *status,
                          enum rd_entered *entered, struct rd_error *error) {
  RD_AUTO_CLOSE int fd = open_directory(tree, name);
  if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "%zu nested directories in the target (raise ulimit -n)", tree->count);
    return false;
  }
  *entered = fd < 0 && errno == ENOTDIR ? RD_ENTERED_OTHER : RD_ENTERED_NOTHING;
  if (fd >= 0 && rd_status_of_fd(fd, status)) *entered = RD_ENTERED_DIRECTORY;
  push(tree, *entered == RD_ENTERED_DIRECTORY ? rd_take_fd(&fd) : -1, extend_path(tree, name));
  return true;
}

void rd_target_tree_leave(struct rd_target_tree *tree) {
  rd_cleanup_fd(&tree->levels[--tree->count].fd);
}

int rd_target_tree_fd(const struct rd_target_tree *tree) {
  return top(tree)->fd;
}

int rd_target_tree_top_fd(const struct rd_target_tree *tree) {
  return tree->levels[0].fd;
}

const char *rd_target_tree_name(const struct rd_target_tree *tree, struct rd_bytes name,
                                char text[RD_NAME_MAX_BYTES + 1]) {
  return tree->as_name != NULL ? tree->as_name : text_of(name, text);
}

char *rd_target_tree_shown_path(const struct rd_target_tree *tree, struct rd_bytes name) {
  RD_AUTO_FREE char *path = rd_target_tree_path(tree, name);
  if (tree->as_name != NULL) return rd_memory_copy(tree->shown_target, strlen(tree->shown_target));
  char *shown = join(rd_bytes_of(tree->shown_target), rd_bytes_of(path));
  if (*shown != '\0') return shown;
  free(shown);
  return rd_memory_copy("/", 1);
}

char *rd_target_tree_path(const struct rd_target_tree *tree, struct rd_bytes name) {
  if (tree->as_name != NULL) return rd_memory_copy(tree->as_name, strlen(tree->as_name));
  struct rd_bytes directory = {(const unsigned char *)tree->path, top(tree)->path_bytes};
  if (directory.count > 0) return join(directory, name);
  return name.count == 0 ? rd_memory_copy("", 0) : rd_memory_copy((const char *)name.at, name.count);
}

char *rd_target_tree_path_in_source(const struct rd_target_tree *tree, struct rd_bytes name) {
  size_t skipped = tree->count > 1 ? tree->levels[1].path_bytes : 0;
  RD_AUTO_FREE char *path = rd_target_tree_path(tree, name);
  return rd_memory_copy(path + skipped + (path[skipped] == '/'), strlen(path + skipped + (path[skipped] == '/')));
}

static void push(struct rd_target_tree *tree, int fd, size_t path_bytes) {
  if (tree->count == tree->room) {
    tree->room = 2 * tree->room + 16;
    tree->levels = rd_memory_resize(tree->levels, tree->room, sizeof *tree->levels);
  }
  tree->levels[tree->count++] = (struct level){fd, path_bytes};
}

static const struct level *top(const struct rd_target_tree *tree) {
  return &tree->levels[tree->count - 1];
}

static int open_directory(const struct rd_target_tree *tree, struct rd_bytes name) {
  char text[RD_NAME_MAX_BYTES + 1];
  int fd = top(tree)->fd;
  errno = ENOENT;
  if (fd < 0) return -1;
  if (name.count == 0) return fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return openat(fd, text_of(name, text), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static const char *text_of(struct rd_bytes name, char text[RD_NAME_MAX_BYTES + 1]) {
  memcpy(text, name.at, name.count);
  text[name.count] = '\0';
  return text;
}

// Returns the length of the path with `name` at its end.
static size_t extend_path(struct rd_target_tree *tree, struct rd_bytes name) {
  size_t bytes = top(tree)->path_bytes, needed = bytes + name.count + 1;
  if (name.count == 0) return bytes;
  if (needed > tree->path_room) {
    tree->path_room = 2 * needed;
    tree->path = rd_memory_resize(tree->path, tree->path_room, 1);
  }
  if (bytes > 0) tree->path[bytes++] = '/';
  memcpy(tree->path + bytes, name.at, name.count);
  return bytes + name.count;
}

static char *join(struct rd_bytes one, struct rd_bytes other) {
  char *joined = rd_memory_new(one.count + other.count + 2, 1);
  memcpy(joined, one.at, one.count);
  if (other.count == 0) return joined;
  joined[one.count] = '/';
  memcpy(joined + one.count + 1, other.at, other.count);
  return joined;
}
