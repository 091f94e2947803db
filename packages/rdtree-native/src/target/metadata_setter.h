// SPDX-License-Identifier: Apache-2.0
// Sets owner, mode, attributes and times, in an order in which no step undoes another.
#ifndef RD_TREE_WRITE_METADATA_SETTER_H
#define RD_TREE_WRITE_METADATA_SETTER_H

#include "entry/attributes.h"
#include "target/context.h"

#include <sys/stat.h>

struct rd_wanted_metadata {
  struct rd_metadata metadata; // with user and group numbers of this host
  const struct rd_attributes *attributes;
  mode_t plain_mode;  // the mode without `archive`
  bool may_have_more; // the entry may have unwanted attributes, or an unwanted ACL from its directory
};

// The mode of a new entry without `archive`.
mode_t rd_plain_mode(const struct rd_write *write, const struct rd_metadata *metadata);
// The mode to create a file with, so that no further call is needed if possible; it may still have to change.
mode_t rd_first_mode(const struct rd_write *write, const struct rd_wanted_metadata *wanted);
// `is_path`: `fd` was opened with O_PATH. `now`: its current metadata; NULL: owner and mode are right. Returns false,
// with errno, if mode or times could not be set. Owners and attributes that the system refuses are counted.
bool rd_metadata_set(struct rd_write *write, int fd, bool is_path, const struct stat *now,
                     const struct rd_wanted_metadata *wanted);

#endif
