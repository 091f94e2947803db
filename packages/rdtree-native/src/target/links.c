// SPDX-License-Identifier: Apache-2.0
#include "target/links.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "target/target_file.h"

#include <fcntl.h>

// A link. Four strings come before it, each with a NUL: the path of the source's directory from the top; the path of
// the link's directory from there; its name; and the path of the other name from the top.
struct kept {
  struct rd_metadata metadata;
  uint64_t size;
  uint32_t source;
};

static void make_one(struct rd_write *write, struct rd_directory *top, const unsigned char *bytes);
static bool make_link(struct rd_write *write, struct rd_directory *top, struct rd_target_file *note, const char *other);
static bool link_below(const struct rd_directory *top, const char *other, int directory, const char *name,
                       bool *is_same, const char *wanted_name);
static struct rd_directory *open_directory(struct rd_write *write, struct rd_directory *parent, const char *path);

bool rd_links_add(struct rd_deferred *list, const struct rd_directory *directory, const char *name,
                  const struct rd_entry *entry, struct rd_error *error) {
  struct kept kept = {entry->metadata, entry->size, entry->source};
  RD_AUTO_FREE char *whole = rd_directory_below_top(directory, NULL);
  RD_AUTO_FREE char *below = rd_directory_below_source(directory, NULL, &kept.source);
  if (directory->parent == NULL) kept.source = entry->source;
  // `whole` ends with `below`: cuts that off.
  whole[strlen(whole) - strlen(below)] = '\0';
  size_t whole_bytes = strlen(whole) + 1, below_bytes = strlen(below) + 1, name_bytes = strlen(name) + 1;
  size_t bytes = whole_bytes + below_bytes + name_bytes + entry->target.count + 1 + sizeof kept;
  RD_AUTO_FREE unsigned char *text = rd_memory_new(bytes, 1);
  unsigned char *at = text;
  memcpy(at, whole, whole_bytes), at += whole_bytes;
  memcpy(at, below, below_bytes), at += below_bytes;
  memcpy(at, name, name_bytes), at += name_bytes;
  memcpy(at, entry->target.at, entry->target.count), at += entry->target.count + 1;
  memcpy(at, &kept, sizeof kept);
  return rd_deferred_add(list, text, bytes, error);
}

bool rd_links_run(struct rd_write *write, struct rd_deferred *list, struct rd_directory *top, struct rd_error *error) {
  const unsigned char *bytes;
  size_t count;
  if (!rd_deferred_rewind(list, error)) return false;
  while (!atomic_load(&write->is_stopped) && rd_deferred_next(list, &bytes, &count, error)) make_one(write, top, bytes);
  return atomic_load(&write->is_stopped) || error->code == RD_CODE_OK;
}

static void make_one(struct rd_write *write, struct rd_directory *top, const unsigned char *bytes) {
  struct kept kept;
  const char *whole = (const char *)bytes, *below = whole + strlen(whole) + 1;
  const char *name = below + strlen(below) + 1, *other = name + strlen(name) + 1;
  memcpy(&kept, other + strlen(other) + 1, sizeof kept);
  struct rd_entry entry = {.metadata = kept.metadata, .size = kept.size, .source = kept.source};
  struct rd_attributes none = {0};
  struct rd_directory *source = open_directory(write, top, whole);
  struct rd_directory *directory = source == NULL ? NULL : open_directory(write, source, below);
  if (directory == NULL) {
    int number = errno;
    RD_AUTO_FREE char *path = rd_directory_path(top, other);
    rd_write_failed(write, top->fd, path, number, "cannot open the directory of its hard link");
  } else {
    source->is_source = true;
    source->source = kept.source;
    struct rd_target_file *note = rd_target_file_create(write, directory, name, &entry, &none);
    note->kind = RD_KIND_NOTE;
    note->action = RD_ACTION_LINK;
    if (make_link(write, top, note, other)) {
      rd_write_count(write, &(struct rd_tree_totals){.entries = 1, .links = 1});
      write->add(write->batches, note);
    } else
      rd_target_file_destroy(note);
  }
  rd_directory_release(directory);
  rd_directory_release(source);
}

static bool make_link(struct rd_write *write, struct rd_directory *top, struct rd_target_file *note,
                      const char *other) {
  char temporary[RD_TEMPORARY_BYTES];
  const char *text = "cannot link it to its other name";
  int directory = note->directory->fd;
  bool is_same = false;
  rd_temporary_name(write, atomic_fetch_add(&write->numbers, 1), temporary);
  if (!link_below(top, other, directory, temporary, &is_same, note->name))
    return rd_target_file_fail(note, errno, text);
  if (is_same || rd_rename_over(note->directory, temporary, note->name, &text)) return true;
  int number = errno;
  (void)unlinkat(directory, temporary, 0);
  return rd_target_file_fail(note, number, text);
}

// *is_same: `wanted_name` is this link already.
static bool link_below(const struct rd_directory *top, const char *other, int directory, const char *name,
                       bool *is_same, const char *wanted_name) {
  struct stat first, second;
  RD_AUTO_FREE char *path = rd_memory_copy(other, strlen(other));
  char *slash = strrchr(path, '/');
  if (slash != NULL) *slash = '\0';
  const char *other_name = slash == NULL ? path : slash + 1;
  RD_AUTO_CLOSE int from = rd_open_below(top->fd, slash == NULL ? "" : path);
  if (from < 0 || fstatat(from, other_name, &first, AT_SYMLINK_NOFOLLOW) < 0) return false;
  *is_same = fstatat(directory, wanted_name, &second, AT_SYMLINK_NOFOLLOW) == 0 && first.st_ino == second.st_ino &&
             first.st_dev == second.st_dev;
  return *is_same || linkat(from, other_name, directory, name, 0) == 0;
}

static struct rd_directory *open_directory(struct rd_write *write, struct rd_directory *parent, const char *path) {
  int fd = rd_open_below(parent->fd, path);
  return fd < 0 ? NULL : rd_directory_create(write, parent, path, fd, false);
}
