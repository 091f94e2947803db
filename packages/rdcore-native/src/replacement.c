// SPDX-License-Identifier: Apache-2.0
#include "replacement.h"

#include "cleanup.h"
#include "file_metadata.h"
#include "hex.h"
#include "io.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

#define NAME_TRIES 100

struct rd_replacement {
  const char *path; // for messages
  const struct rd_place *place;
  int directory_fd; // the place's, which can be made permanent
  int fd;
  mode_t mode;     // that it gets at its end
  char hidden[64]; // the name it has now; empty: none
  bool committed;
};

static bool open_directory(struct rd_replacement *replacement, struct rd_error *error);
static bool open_file(struct rd_replacement *replacement, struct rd_error *error);
static bool open_nameless(struct rd_replacement *replacement);
static bool open_hidden(struct rd_replacement *replacement, mode_t mode);
static bool make_hidden_name(char *name, size_t bytes);
static bool take_metadata(struct rd_replacement *replacement, struct rd_error *error);
static void remove_hidden(struct rd_replacement *replacement);
static bool give_name(struct rd_replacement *replacement);
static bool unwritable(const struct rd_replacement *replacement, const char *what, struct rd_error *error);

struct rd_replacement *rd_replacement_open(const struct rd_place *place, const char *path, struct rd_error *error) {
  struct rd_replacement *replacement = calloc(1, sizeof *replacement);
  if (replacement == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for the sink");
    return NULL;
  }
  *replacement = (struct rd_replacement){.path = path, .place = place, .directory_fd = -1, .fd = -1};
  if (open_directory(replacement, error) && open_file(replacement, error)) return replacement;
  rd_replacement_destroy(replacement);
  return NULL;
}

void rd_replacement_destroy(struct rd_replacement *replacement) {
  if (replacement == NULL) return;
  if (!replacement->committed) remove_hidden(replacement);
  rd_cleanup_fd(&replacement->fd);
  rd_cleanup_fd(&replacement->directory_fd);
  free(replacement);
}

int rd_replacement_fd(const struct rd_replacement *replacement) {
  return replacement->fd;
}

bool rd_replacement_commit(struct rd_replacement *replacement, struct rd_error *error) {
  int directory_fd = replacement->directory_fd;
  if (fchmod(replacement->fd, replacement->mode) < 0) return unwritable(replacement, "cannot set the mode of", error);
  if (!rd_make_permanent(replacement->fd)) return unwritable(replacement, "cannot write", error);
  if (replacement->hidden[0] == '\0' && !give_name(replacement)) return unwritable(replacement, "cannot name", error);
  if (renameat(directory_fd, replacement->hidden, directory_fd, replacement->place->name) < 0)
    return unwritable(replacement, "cannot replace", error);
  replacement->committed = true;
  if (fsync(directory_fd) < 0 && errno != EINVAL)
    return unwritable(replacement, "cannot write the directory of", error);
  return true;
}

static bool open_directory(struct rd_replacement *replacement, struct rd_error *error) {
  replacement->directory_fd = openat(replacement->place->directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return replacement->directory_fd >= 0 || unwritable(replacement, "cannot open the directory of", error);
}

// The kernel says, by an empty file, what mode a new one gets here (umask, default ACL), and what of an old one's can
// be kept. The bytes come into a file that only its owner may open: an empty one with a name may have been opened by
// others.
static bool open_file(struct rd_replacement *replacement, struct rd_error *error) {
  bool exists = replacement->place->exists;
  bool is_nameless = open_nameless(replacement);
  if (!is_nameless && !open_hidden(replacement, exists ? 0600 : 0666))
    return unwritable(replacement, "cannot make a file beside", error);
  if (exists && !take_metadata(replacement, error)) return false;
  struct stat status;
  if (fstat(replacement->fd, &status) < 0) return unwritable(replacement, "cannot look at the file beside", error);
  replacement->mode = status.st_mode & 07777;
  if (!is_nameless && !exists) {
    remove_hidden(replacement);
    rd_cleanup_fd(&replacement->fd);
    if (!open_hidden(replacement, 0600)) return unwritable(replacement, "cannot make a file beside", error);
  }
  return fchmod(replacement->fd, 0600) == 0 || unwritable(replacement, "cannot set the mode of the file beside", error);
}

// A file without a name vanishes by itself when we are killed. It needs /proc to be given one.
static bool open_nameless(struct rd_replacement *replacement) {
  if (access("/proc/self/fd", X_OK) < 0) return false;
  replacement->fd = openat(replacement->directory_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  return replacement->fd >= 0;
}

static bool open_hidden(struct rd_replacement *replacement, mode_t mode) {
  for (int i = 0; i < NAME_TRIES; i++) {
    if (!make_hidden_name(replacement->hidden, sizeof replacement->hidden)) break;
    replacement->fd =
        openat(replacement->directory_fd, replacement->hidden, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
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

// What one may not write one may not replace either. To look at its attributes it must be open, for whatever may be.
static bool take_metadata(struct rd_replacement *replacement, struct rd_error *error) {
  const struct rd_place *place = replacement->place;
  if (faccessat(place->directory_fd, place->name, W_OK, AT_EACCESS) < 0)
    return unwritable(replacement, "cannot write", error);
  RD_AUTO_CLOSE int fd = rd_place_open(place, O_RDONLY | O_NONBLOCK);
  if (fd < 0 && errno == EACCES) fd = rd_place_open(place, O_WRONLY | O_NONBLOCK);
  if (fd < 0) return unwritable(replacement, "cannot look at", error);
  return rd_file_metadata_copy(fd, replacement->fd, replacement->path, error);
}

static void remove_hidden(struct rd_replacement *replacement) {
  if (replacement->hidden[0] != '\0') unlinkat(replacement->directory_fd, replacement->hidden, 0);
  replacement->hidden[0] = '\0';
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
