// SPDX-License-Identifier: Apache-2.0
// The differences between an entry of the source and the target's entry of that name.
#ifndef RD_TREE_DIFFERENCE_H
#define RD_TREE_DIFFERENCE_H

#include "entry/owner_map.h"
#include "setup/settings.h"
#include "stream/record.h"

#include <sys/stat.h>

// Bits of a set.
enum rd_reason {
  RD_REASON_NEW = 1 << 0, // the target has nothing of that name
  RD_REASON_TYPE = 1 << 1,
  RD_REASON_SIZE = 1 << 2,
  RD_REASON_TIME = 1 << 3,
  RD_REASON_DIGEST = 1 << 4,
  RD_REASON_TARGET = 1 << 5, // of a symbolic link
  RD_REASON_DEVICE = 1 << 6,
  RD_REASON_MODE = 1 << 7,
  RD_REASON_OWNER = 1 << 8,
  RD_REASON_GROUP = 1 << 9,
  RD_REASON_ACL = 1 << 10,
  RD_REASON_XATTR = 1 << 11,
  RD_REASON_SHARED = 1 << 12, // it differs, and also has a name that must not change with it
};
#define RD_REASON_COUNT 13
#define RD_REASONS_OF_CONTENT                                                                                          \
  (RD_REASON_NEW | RD_REASON_TYPE | RD_REASON_SIZE | RD_REASON_DIGEST | RD_REASON_TARGET | RD_REASON_DEVICE |          \
   RD_REASON_SHARED)
const char *rd_reason_name(unsigned index); // of bit 1 << index

// Type, size, device; with `archive` mode and owners too, as far as this process can set them; the time of files, and
// with `archive` that of all. Not what needs another system call.
unsigned rd_difference_of(const struct rd_tree_settings *settings, const struct rd_owner_map *owners,
                          const struct rd_record *source, const struct statx *target);

// Returns true if the settings keep the target's entry because both are files, and its is newer.
bool rd_is_newer(const struct rd_tree_settings *settings, const struct rd_record *source, const struct statx *target);

#endif
