// SPDX-License-Identifier: Apache-2.0
#include "compare/link_choice.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "entry/link_dest.h"
#include "entry/metadata.h"

#include <fcntl.h>
#include <unistd.h>

#define LINKS_MAX 65000u // names of a file: ext4's limit; other file systems allow more

struct identity {
  uint64_t device, inode;
};

struct rd_link_choice {
  struct rd_target_tree *trees[RD_LINK_DESTS_MAX];
  size_t count;
  struct identity tops[RD_LINK_DESTS_MAX]; // the directories themselves
  struct identity *kept;                   // they, and the directories that they are in
  size_t kept_count;
  uid_t user;
};

static void keep_above(struct rd_link_choice *choice, int fd);
static struct identity identity_of(const struct statx *status);
static bool has(const struct identity *list, size_t count, struct identity wanted);
static bool may_be_linked(const struct rd_link_choice *choice, const struct statx *status);
static bool is_elsewhere(const struct rd_link_choice *choice, int fd);

struct rd_link_choice *rd_link_choice_create(const struct rd_tree_settings *settings, enum rd_target_mode place,
                                             struct rd_error *error) {
  int fds[RD_LINK_DESTS_MAX];
  if (!rd_link_dests_open(settings, place, fds, error)) return NULL;
  struct rd_link_choice *choice = rd_memory_new(1, sizeof *choice);
  choice->user = geteuid();
  choice->count = settings->link_dest_count;
  for (size_t i = 0; i < choice->count; i++) {
    struct statx status = {0};
    (void)rd_status_of_fd(fds[i], &status);
    choice->tops[i] = identity_of(&status);
    keep_above(choice, fds[i]);
    choice->trees[i] = rd_target_tree_create(settings->link_dests[i], &(struct rd_target){.directory_fd = fds[i]});
  }
  return choice;
}

void rd_link_choice_destroy(struct rd_link_choice *choice) {
  if (choice == NULL) return;
  for (size_t i = 0; i < choice->count; i++) rd_target_tree_destroy(choice->trees[i]);
  free(choice->kept);
  free(choice);
}

bool rd_link_choice_enter(struct rd_link_choice *choice, struct rd_bytes name, const struct statx *entered,
                          struct rd_error *error) {
  struct statx status;
  enum rd_entered kind;
  if (entered != NULL && has(choice->tops, choice->count, identity_of(entered))) {
    rd_error_set(error, RD_CODE_SINK_UNWRITABLE,
                 "the copy would go into the directory of --link-dest, and change it (copy into another directory)");
    return false;
  }
  for (size_t i = 0; i < choice->count; i++)
    if (!rd_target_tree_enter(choice->trees[i], name, &status, &kind, error)) return false;
  return true;
}

void rd_link_choice_leave(struct rd_link_choice *choice) {
  for (size_t i = 0; i < choice->count; i++) rd_target_tree_leave(choice->trees[i]);
}

bool rd_link_choice_find(const struct rd_link_choice *choice, struct rd_decider *decider,
                         const struct rd_record *record, const struct rd_attributes *attributes, int fd,
                         const char *name, uint32_t *number) {
  struct statx status;
  for (size_t i = 0; i < choice->count; i++) {
    int from = rd_target_tree_fd(choice->trees[i]);
    if (!rd_decide_same(decider, record, attributes, from, name, &status) || !may_be_linked(choice, &status)) continue;
    *number = (uint32_t)i;
    return !is_elsewhere(choice, fd);
  }
  return false;
}

char *rd_link_choice_shown_path(const struct rd_link_choice *choice, uint32_t number, const char *name) {
  return rd_target_tree_shown_path(choice->trees[number], rd_bytes_of(name));
}

bool rd_link_choice_keeps(const struct rd_link_choice *choice, int fd, struct rd_bytes name) {
  struct statx status;
  RD_AUTO_FREE char *text = rd_memory_copy((const char *)name.at, name.count);
  return rd_status_of_name(fd, text, &status) && has(choice->kept, choice->kept_count, identity_of(&status));
}

// Follows `..` up to the root of the file tree.
static void keep_above(struct rd_link_choice *choice, int fd) {
  struct statx status;
  RD_AUTO_CLOSE int at = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  while (at >= 0 && rd_status_of_fd(at, &status) && !has(choice->kept, choice->kept_count, identity_of(&status))) {
    choice->kept = rd_memory_resize(choice->kept, choice->kept_count + 1, sizeof *choice->kept);
    choice->kept[choice->kept_count++] = identity_of(&status);
    int above = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    rd_cleanup_fd(&at);
    at = above;
  }
}

static struct identity identity_of(const struct statx *status) {
  return (struct identity){rd_device_of(status), status->stx_ino};
}

static bool has(const struct identity *list, size_t count, struct identity wanted) {
  for (size_t i = 0; i < count; i++)
    if (list[i].device == wanted.device && list[i].inode == wanted.inode) return true;
  return false;
}

// Linux lets users link only files of their own, unless they may also write to them (fs.protected_hardlinks).
static bool may_be_linked(const struct rd_link_choice *choice, const struct statx *status) {
  bool is_allowed = choice->user == 0 || choice->user == status->stx_uid;
  return is_allowed && status->stx_nlink < LINKS_MAX && rd_device_of(status) == choice->tops[0].device;
}

// In a directory of the target that is on another file system.
static bool is_elsewhere(const struct rd_link_choice *choice, int fd) {
  struct statx status;
  return fd >= 0 && (!rd_status_of_fd(fd, &status) || rd_device_of(&status) != choice->tops[0].device);
}
