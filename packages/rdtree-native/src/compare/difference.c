// SPDX-License-Identifier: Apache-2.0
#include "compare/difference.h"

#include "entry/metadata.h"

static unsigned metadata_difference(const struct rd_tree_settings *settings, const struct rd_owner_map *owners,
                                    const struct rd_metadata *source, const struct statx *target);
static unsigned owner_difference(const struct rd_owner_map *owners, const struct rd_metadata *source,
                                 const struct statx *target);
static bool is_same_time(const struct rd_metadata *source, struct statx_timestamp target);

const char *rd_reason_name(unsigned index) {
  static const char *const names[RD_REASON_COUNT] = {"new",  "type",  "size",  "time", "digest", "target", "device",
                                                     "mode", "owner", "group", "acl",  "xattr",  "shared"};
  return names[index];
}

unsigned rd_difference_of(const struct rd_tree_settings *settings, const struct rd_owner_map *owners,
                          const struct rd_record *source, const struct statx *target) {
  const struct rd_entry *entry = &source->entry;
  if ((entry->metadata.mode & S_IFMT) != (target->stx_mode & S_IFMT)) return RD_REASON_TYPE;
  unsigned reasons = metadata_difference(settings, owners, &entry->metadata, target);
  if (S_ISREG(target->stx_mode) && entry->size != target->stx_size) reasons |= RD_REASON_SIZE;
  bool is_device = S_ISBLK(target->stx_mode) || S_ISCHR(target->stx_mode);
  bool has_device = source->type == RD_RECORD_SPECIAL; // a LINK has none
  if (is_device && has_device && entry->device != rd_special_of(target)) reasons |= RD_REASON_DEVICE;
  return reasons;
}

bool rd_is_newer(const struct rd_tree_settings *settings, const struct rd_record *source, const struct statx *target) {
  const struct rd_metadata *metadata = &source->entry.metadata;
  if (!settings->update || !S_ISREG(metadata->mode) || !S_ISREG(target->stx_mode)) return false;
  if (target->stx_mtime.tv_sec != metadata->mtime_s) return target->stx_mtime.tv_sec > metadata->mtime_s;
  return target->stx_mtime.tv_nsec > metadata->mtime_ns;
}

static unsigned metadata_difference(const struct rd_tree_settings *settings, const struct rd_owner_map *owners,
                                    const struct rd_metadata *source, const struct statx *target) {
  unsigned reasons = 0;
  bool has_time = settings->archive || S_ISREG(source->mode);
  if (has_time && !is_same_time(source, target->stx_mtime)) reasons |= RD_REASON_TIME;
  if (!settings->archive) return reasons;
  bool has_mode = !S_ISLNK(source->mode);
  if (has_mode && (source->mode & 07777) != (target->stx_mode & 07777)) reasons |= RD_REASON_MODE;
  return reasons | owner_difference(owners, source, target);
}

static unsigned owner_difference(const struct rd_owner_map *owners, const struct rd_metadata *source,
                                 const struct statx *target) {
  unsigned reasons = 0;
  uint32_t uid = rd_owner_map_user(owners, source->uid), gid = rd_owner_map_group(owners, source->gid);
  if (uid != target->stx_uid && rd_owner_map_sets_users(owners)) reasons |= RD_REASON_OWNER;
  if (gid != target->stx_gid && rd_owner_map_sets_group(owners, gid)) reasons |= RD_REASON_GROUP;
  return reasons;
}

// The target's file system may keep whole seconds or microseconds only.
static bool is_same_time(const struct rd_metadata *source, struct statx_timestamp target) {
  if (source->mtime_s != target.tv_sec) return false;
  return source->mtime_ns == target.tv_nsec || target.tv_nsec == 0 ||
         (target.tv_nsec % 1000 == 0 && source->mtime_ns / 1000 == target.tv_nsec / 1000);
}
