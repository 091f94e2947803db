// SPDX-License-Identifier: Apache-2.0
#include "replacement.h"

#include "cleanup.h"
#include "hex.h"
#include "io.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

#define LINKS_MOST 40
#define NAME_TRIES 100

struct rd_replacement {
  char *path; // for messages
  char *name; // of the target, in its directory
  int directory_fd;
  int fd;
  char hidden[64]; // the name it has now; empty: none
  bool committed;
};

static char *follow(const char *path, int links);
static char *join_link(const char *path, const char *target);
static char *resolve_new(const char *path);
static bool open_directory(struct rd_replacement *replacement, struct rd_error *error);
static bool open_file(struct rd_replacement *replacement, struct rd_error *error);
static bool open_nameless(struct rd_replacement *replacement);
static bool open_hidden(struct rd_replacement *replacement);
static bool make_hidden_name(char *name, size_t bytes);
static bool keep_mode_and_owner(struct rd_replacement *replacement, struct rd_error *error);
static bool give_name(struct rd_replacement *replacement);
static bool unwritable(const struct rd_replacement *replacement, const char *what, struct rd_error *error);

struct rd_replacement *rd_replacement_open(const char *path, struct rd_error *error) {
  struct rd_replacement *replacement = calloc(1, sizeof *replacement);
  if (replacement != NULL) replacement->path = strdup(path);
  if (replacement == NULL || replacement->path == NULL) {
    free(replacement);
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for the sink");
    return NULL;
  }
  replacement->directory_fd = replacement->fd = -1;
  if (open_directory(replacement, error) && open_file(replacement, error) && keep_mode_and_owner(replacement, error))
    return replacement;
  rd_replacement_destroy(replacement);
  return NULL;
}

void rd_replacement_destroy(struct rd_replacement *replacement) {
  if (replacement == NULL) return;
  if (!replacement->committed && replacement->hidden[0] != '\0')
    unlinkat(replacement->directory_fd, replacement->hidden, 0);
  rd_cleanup_fd(&replacement->fd);
  rd_cleanup_fd(&replacement->directory_fd);
  free(replacement->path);
  free(replacement->name);
  free(replacement);
}

int rd_replacement_fd(const struct rd_replacement *replacement) {
  return replacement->fd;
}

bool rd_replacement_commit(struct rd_replacement *replacement, struct rd_error *error) {
  int directory_fd = replacement->directory_fd;
  if (!rd_make_permanent(replacement->fd)) return unwritable(replacement, "cannot write", error);
  if (replacement->hidden[0] == '\0' && !give_name(replacement)) return unwritable(replacement, "cannot name", error);
  if (renameat(directory_fd, replacement->hidden, directory_fd, replacement->name) < 0)
    return unwritable(replacement, "cannot replace", error);
  replacement->committed = true;
  if (fsync(directory_fd) < 0 && errno != EINVAL)
    return unwritable(replacement, "cannot write the directory of", error);
  return true;
}

char *rd_replacement_resolve(const char *path) {
  return follow(path, LINKS_MOST);
}

static char *follow(const char *path, int links) {
  char *resolved = realpath(path, NULL);
  if (resolved != NULL || errno != ENOENT) return resolved;
  char target[PATH_MAX];
  ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0) return errno == EINVAL || errno == ENOENT ? resolve_new(path) : NULL;
  if (links == 0) {
    errno = ELOOP;
    return NULL;
  }
  target[length] = '\0';
  RD_AUTO_FREE char *next = join_link(path, target);
  return next != NULL ? follow(next, links - 1) : NULL;
}

// Where a link at `path` that says `target` leads.
static char *join_link(const char *path, const char *target) {
  const char *slash = strrchr(path, '/');
  if (target[0] == '/' || slash == NULL) return strdup(target);
  char *joined;
  return asprintf(&joined, "%.*s/%s", (int)(slash - path), path, target) < 0 ? NULL : joined;
}

// A file that does not exist yet, in a directory that does.
static char *resolve_new(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash != NULL ? slash + 1 : path;
  if (name[0] == '\0') {
    errno = EISDIR;
    return NULL;
  }
  RD_AUTO_FREE char *parent = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
  RD_AUTO_FREE char *directory = parent != NULL ? realpath(parent, NULL) : NULL;
  char *joined;
  if (directory == NULL || asprintf(&joined, "%s/%s", directory, name) < 0) return NULL;
  return joined;
}

static bool open_directory(struct rd_replacement *replacement, struct rd_error *error) {
  const char *slash = strrchr(replacement->path, '/');
  RD_AUTO_FREE char *directory =
      slash != NULL ? strndup(replacement->path, (size_t)(slash - replacement->path) + 1) : strdup(".");
  replacement->name = strdup(slash != NULL ? slash + 1 : replacement->path);
  if (directory == NULL || replacement->name == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for the sink");
    return false;
  }
  replacement->directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return replacement->directory_fd >= 0 || unwritable(replacement, "cannot open the directory of", error);
}

static bool open_file(struct rd_replacement *replacement, struct rd_error *error) {
  return open_nameless(replacement) || open_hidden(replacement) ||
         unwritable(replacement, "cannot make a file beside", error);
}

// A file without a name vanishes by itself when we are killed. It needs /proc to be given one.
static bool open_nameless(struct rd_replacement *replacement) {
  if (access("/proc/self/fd", X_OK) < 0) return false;
  replacement->fd = openat(replacement->directory_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  return replacement->fd >= 0;
}

static bool open_hidden(struct rd_replacement *replacement) {
  for (int i = 0; i < NAME_TRIES; i++) {
    if (!make_hidden_name(replacement->hidden, sizeof replacement->hidden)) break;
    replacement->fd =
        openat(replacement->directory_fd, replacement->hidden, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (replacement->fd >= 0) return true;
    if (errno != EEXIST) break;
  }
  replacement->hidden[0] = '\0';
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

static bool keep_mode_and_owner(struct rd_replacement *replacement, struct rd_error *error) {
  struct stat old, new;
  if (fstatat(replacement->directory_fd, replacement->name, &old, 0) < 0)
    return errno == ENOENT || unwritable(replacement, "cannot look at", error);
  // What one may not write one may not replace either.
  if (faccessat(replacement->directory_fd, replacement->name, W_OK, AT_EACCESS) < 0)
    return unwritable(replacement, "cannot write", error);
  if (fstat(replacement->fd, &new) < 0) return unwritable(replacement, "cannot look at the file beside", error);
  bool same_owner = old.st_uid == new.st_uid &&old.st_gid == new.st_gid;
  if (!same_owner && fchown(replacement->fd, old.st_uid, old.st_gid) < 0)
    return unwritable(replacement, "cannot keep the owner (a command can write it: cat > file) of", error);
  return fchmod(replacement->fd, old.st_mode & 07777) == 0 || unwritable(replacement, "cannot keep the mode of", error);
}

static bool give_name(struct rd_replacement *replacement) {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", replacement->fd);
  for (int i = 0; i < NAME_TRIES; i++) {
    if (!make_hidden_name(replacement->hidden, sizeof replacement->hidden)) break;
    if (linkat(AT_FDCWD, link, replacement->directory_fd, replacement->hidden, AT_SYMLINK_FOLLOW) == 0) return true;
    if (errno != EEXIST) break;
  }
  replacement->hidden[0] = '\0';
  return false;
}

static bool unwritable(const struct rd_replacement *replacement, const char *what, struct rd_error *error) {
  rd_error_set_errno(error, RD_CODE_SINK_UNWRITABLE, "%s %.300s", what, replacement->path);
  return false;
}
