// SPDX-License-Identifier: Apache-2.0
#include "target/directory_metadata.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>

// The metadata of a directory; its attributes and its path from the top follow.
struct kept {
  struct rd_metadata metadata;
  mode_t plain_mode;
  bool may_have_more;
  size_t attribute_bytes;
};

static void set_one(struct rd_write *write, const struct rd_directory *top, const unsigned char *bytes);

bool rd_directory_metadata_add(struct rd_deferred *list, const struct rd_directory *directory,
                               const struct rd_wanted_metadata *wanted, struct rd_error *error) {
  RD_AUTO_FREE char *path = rd_directory_below_top(directory, NULL);
  const struct rd_attributes *attributes = wanted->attributes;
  struct kept kept = {wanted->metadata, wanted->plain_mode, wanted->may_have_more, attributes->count};
  size_t bytes = sizeof kept + attributes->count + strlen(path);
  RD_AUTO_FREE unsigned char *text = rd_memory_new(bytes, 1);
  memcpy(text, &kept, sizeof kept);
  if (attributes->count > 0) memcpy(text + sizeof kept, attributes->bytes, attributes->count);
  memcpy(text + sizeof kept + attributes->count, path, strlen(path));
  return rd_deferred_add(list, text, bytes, error);
}

bool rd_directory_metadata_run(struct rd_write *write, struct rd_deferred *list, const struct rd_directory *top,
                               struct rd_error *error) {
  const unsigned char *bytes;
  size_t count;
  if (!rd_deferred_rewind(list, error)) return false;
  while (rd_deferred_next(list, &bytes, &count, error)) set_one(write, top, bytes);
  return error->code == RD_CODE_OK;
}

static void set_one(struct rd_write *write, const struct rd_directory *top, const unsigned char *bytes) {
  struct kept kept;
  memcpy(&kept, bytes, sizeof kept);
  RD_AUTO_FREE unsigned char *copy = rd_memory_new(kept.attribute_bytes + 1, 1); // aligned, and not const
  memcpy(copy, bytes + sizeof kept, kept.attribute_bytes);
  const char *path = (const char *)bytes + sizeof kept + kept.attribute_bytes;
  struct rd_attributes attributes = {copy, kept.attribute_bytes, 0};
  struct rd_wanted_metadata wanted = {kept.metadata, &attributes, kept.plain_mode, kept.may_have_more};
  struct stat now;
  RD_AUTO_CLOSE int fd = rd_open_below(top->fd, path);
  if (fd >= 0 && fstat(fd, &now) == 0 && rd_metadata_set(write, fd, false, &now, &wanted)) return;
  int number = errno;
  RD_AUTO_FREE char *whole = rd_directory_path(top, path);
  rd_write_failed(write, top->fd, whole, number, "cannot set its metadata");
}
