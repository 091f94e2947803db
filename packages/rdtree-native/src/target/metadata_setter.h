// SPDX-License-Identifier: Apache-2.0
// Sets owner, mode, attributes and times, in the order in which none undoes another.
#ifndef RD_TREE_WRITE_METADATA_SETTER_H
#define RD_TREE_WRITE_METADATA_SETTER_H

#include "entry/attributes.h"
#include "target/context.h"

#include <sys/stat.h>

struct rd_wanted_metadata {
  struct rd_metadata metadata; // with the numbers of users and groups of this host
  const struct rd_attributes *attributes;
  mode_t plain_mode;  // without `archive`
  bool may_have_more; // it may have attributes, or an ACL that its directory gave it, that are not wanted
};

// The mode, without archive, of what is new.
mode_t rd_plain_mode(const struct rd_write *write, const struct rd_metadata *metadata);
// The mode with which to make a file so that no other call is needed; what it then has may still have to change.
mode_t rd_first_mode(const struct rd_write *write, const struct rd_wanted_metadata *wanted);
// `fd` may be open with O_PATH, which `is_path` says. `now`: as it is; NULL: its owner and mode are right. False, with
// errno: mode or times could not be set. Owners and attributes that the system refuses are counted.
bool rd_metadata_set(struct rd_write *write, int fd, bool is_path, const struct stat *now,
                     const struct rd_wanted_metadata *wanted);

#endif
