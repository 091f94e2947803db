// SPDX-License-Identifier: Apache-2.0
#include "target/directory_metadata.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "target/open_chain.h"

#include <errno.h>

// The metadata of a directory. Its path from the top comes before it, with a NUL, and its attributes follow.
struct kept {
  struct rd_metadata metadata;
  mode_t plain_mode;
  bool may_have_more;
  size_t attribute_bytes;
};

static void set_one(struct rd_write *write, const struct rd_directory *top, struct rd_open_chain *chain,
                    const unsigned char *bytes);

bool rd_directory_metadata_add(struct rd_deferred *list, const struct rd_directory *directory,
                               const struct rd_wanted_metadata *wanted, struct rd_error *error) {
  RD_AUTO_FREE char *path = rd_directory_below_top(directory, NULL);
  const struct rd_attributes *attributes = wanted->attributes;
  struct kept kept = {wanted->metadata, wanted->plain_mode, wanted->may_have_more, attributes->count};
  size_t path_bytes = strlen(path) + 1, bytes = path_bytes + sizeof kept + attributes->count;
  RD_AUTO_FREE unsigned char *text = rd_memory_new(bytes, 1);
  memcpy(text, path, path_bytes);
  memcpy(text + path_bytes, &kept, sizeof kept);
  if (attributes->count > 0) memcpy(text + path_bytes + sizeof kept, attributes->bytes, attributes->count);
  return rd_deferred_add(list, text, bytes, error);
}

bool rd_directory_metadata_run(struct rd_write *write, struct rd_deferred *list, const struct rd_directory *top,
                               struct rd_error *error) {
  const unsigned char *bytes;
  size_t count;
  if (!rd_deferred_rewind(list, error)) return false;
  struct rd_open_chain *chain = rd_open_chain_create(top->fd);
  while (rd_deferred_next(list, &bytes, &count, error)) set_one(write, top, chain, bytes);
  rd_open_chain_destroy(chain);
  return error->code == RD_CODE_OK;
}

static void set_one(struct rd_write *write, const struct rd_directory *top, struct rd_open_chain *chain,
                    const unsigned char *bytes) {
  struct kept kept;
  const char *path = (const char *)bytes;
  bytes += strlen(path) + 1;
  memcpy(&kept, bytes, sizeof kept);
  RD_AUTO_FREE unsigned char *copy = rd_memory_new(kept.attribute_bytes + 1, 1); // aligned, and not const
  memcpy(copy, bytes + sizeof kept, kept.attribute_bytes);
  struct rd_attributes attributes = {copy, kept.attribute_bytes, 0};
  struct rd_wanted_metadata wanted = {kept.metadata, &attributes, kept.plain_mode, kept.may_have_more};
  struct stat now;
  RD_AUTO_CLOSE int fd = rd_open_chain_next(chain, path);
  if (fd >= 0 && fstat(fd, &now) == 0 && rd_metadata_set(write, fd, false, &now, &wanted)) return;
  int number = errno;
  RD_AUTO_FREE char *whole = rd_directory_path(top, path);
  rd_write_failed(write, top->fd, whole, number, "cannot set its metadata");
}
