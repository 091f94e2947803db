// SPDX-License-Identifier: Apache-2.0
#include "compare/decision.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "compare/name_set.h"
#include "entry/file_digest.h"
#include "entry/metadata.h"
#include "entry/xattrs.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#define REPLACED_MAX 1000000u // 16 MB

struct rd_decider {
  const struct rd_tree_settings *settings;
  const struct rd_owner_map *owners;
  struct rd_xattrs *xattrs;
  bool has_attributes;
  struct rd_name_set *replaced; // files with several names at the target, of which one gets other content
};

static unsigned difference(struct rd_decider *decider, const struct rd_record *record,
                           const struct rd_attributes *attributes, int fd, const char *name,
                           const struct statx *status);
static unsigned content_difference(const struct rd_decider *decider, const struct rd_record *record, int fd,
                                   const char *name);
static bool has_digest_of(const struct rd_entry *entry, int fd, const char *name);
static bool links_to(struct rd_bytes target, int fd, const char *name);
static unsigned attribute_difference(struct rd_decider *decider, const struct rd_attributes *attributes, int fd,
                                     const char *name);
static unsigned reason_of(struct rd_bytes name);
static bool is_verified(const struct rd_decider *decider, const struct rd_record *record);
static void note_replaced(struct rd_decider *decider, const struct statx *status);
static struct rd_bytes identity_of(const struct statx *status, uint64_t identity[2]);
static bool status_below(int top_fd, struct rd_bytes path, struct statx *status);

struct rd_decider *rd_decider_create(const struct rd_tree_settings *settings, const struct rd_owner_map *owners) {
  struct rd_decider *decider = rd_memory_new(1, sizeof *decider);
  decider->settings = settings;
  decider->owners = owners;
  decider->has_attributes = settings->acls || settings->xattrs;
  decider->xattrs = rd_xattrs_create(settings);
  decider->replaced = rd_name_set_create();
  return decider;
}

void rd_decider_destroy(struct rd_decider *decider) {
  if (decider == NULL) return;
  rd_xattrs_destroy(decider->xattrs);
  rd_name_set_destroy(decider->replaced);
  free(decider);
}

unsigned rd_decide_entry(struct rd_decider *decider, const struct rd_record *record,
                         const struct rd_attributes *attributes, int fd, const char *name) {
  struct statx status;
  if (fd < 0 || !rd_status_of_name(fd, name, &status)) return RD_REASON_NEW;
  if (rd_is_newer(decider->settings, record, &status)) return 0;
  unsigned reasons = difference(decider, record, attributes, fd, name, &status);
  if ((reasons & RD_REASON_TYPE) || reasons == 0 || status.stx_nlink == 1) return reasons;
  // The other name may be in a directory of --link-dest, which an earlier run linked it to.
  if (decider->settings->link_dest_count > 0) reasons |= RD_REASON_SHARED;
  if (rd_want_of(decider, record, reasons) == RD_WANT_ALL) note_replaced(decider, &status);
  return reasons;
}

bool rd_decide_newer(const struct rd_decider *decider, const struct rd_record *record, int fd, const char *name) {
  struct statx status;
  return decider->settings->update && fd >= 0 && rd_status_of_name(fd, name, &status) &&
         rd_is_newer(decider->settings, record, &status);
}

bool rd_decide_same(struct rd_decider *decider, const struct rd_record *record, const struct rd_attributes *attributes,
                    int fd, const char *name, struct statx *status) {
  return fd >= 0 && rd_status_of_name(fd, name, status) &&
         difference(decider, record, attributes, fd, name, status) == 0;
}

unsigned rd_decide_directory(struct rd_decider *decider, const struct rd_record *record,
                             const struct rd_attributes *attributes, int fd, const struct statx *status) {
  return rd_difference_of(decider->settings, decider->owners, record, status) |
         attribute_difference(decider, attributes, fd, "");
}

unsigned rd_decide_link(struct rd_decider *decider, const struct rd_record *record, int top_fd, int fd,
                        const char *name) {
  struct statx status, other;
  uint64_t identity[2];
  if (fd < 0 || !rd_status_of_name(fd, name, &status)) return RD_REASON_NEW;
  if (rd_is_newer(decider->settings, record, &status)) return 0;
  if (!status_below(top_fd, record->entry.target, &other)) return RD_REASON_TARGET;
  if (status.stx_ino != other.stx_ino || rd_device_of(&status) != rd_device_of(&other)) return RD_REASON_TARGET;
  // The file that both names are of is about to be replaced under the other one.
  bool is_replaced = rd_name_set_is_full(decider->replaced, REPLACED_MAX) ||
                     rd_name_set_has(decider->replaced, identity_of(&status, identity));
  return (is_replaced ? RD_REASON_TARGET : 0) | rd_difference_of(decider->settings, decider->owners, record, &status);
}

enum rd_want rd_want_of(const struct rd_decider *decider, const struct rd_record *record, unsigned reasons) {
  if (reasons == 0) return RD_WANT_NOTHING;
  if (reasons & RD_REASONS_OF_CONTENT) return RD_WANT_ALL;
  bool is_changed = record->type == RD_RECORD_FILE && (reasons & RD_REASON_TIME) && !is_verified(decider, record);
  return is_changed ? RD_WANT_ALL : RD_WANT_METADATA;
}

static unsigned difference(struct rd_decider *decider, const struct rd_record *record,
                           const struct rd_attributes *attributes, int fd, const char *name,
                           const struct statx *status) {
  unsigned reasons = rd_difference_of(decider->settings, decider->owners, record, status);
  if (reasons & RD_REASON_TYPE) return reasons;
  return reasons | content_difference(decider, record, fd, name) | attribute_difference(decider, attributes, fd, name);
}

// The differences that the status does not show. A digest is computed only if it decides.
static unsigned content_difference(const struct rd_decider *decider, const struct rd_record *record, int fd,
                                   const char *name) {
  struct statx status;
  if (record->type == RD_RECORD_SYMLINK) return links_to(record->entry.target, fd, name) ? 0 : RD_REASON_TARGET;
  if (!is_verified(decider, record) || !rd_status_of_name(fd, name, &status)) return 0;
  bool decides = status.stx_size == record->entry.size;
  return decides && !has_digest_of(&record->entry, fd, name) ? RD_REASON_DIGEST : 0;
}

static bool has_digest_of(const struct rd_entry *entry, int fd, const char *name) {
  unsigned char digest[RD_DIGEST_TREE_BYTES];
  RD_AUTO_CLOSE int file = rd_file_open(fd, name);
  return file >= 0 && rd_file_digest(file, 0, entry->size, digest) && memcmp(digest, entry->digest, sizeof digest) == 0;
}

static bool links_to(struct rd_bytes target, int fd, const char *name) {
  char text[PATH_MAX];
  ssize_t count = readlinkat(fd, name, text, sizeof text);
  return count >= 0 && (size_t)count == target.count && memcmp(text, target.at, target.count) == 0;
}

static unsigned attribute_difference(struct rd_decider *decider, const struct rd_attributes *attributes, int fd,
                                     const char *name) {
  if (!decider->has_attributes) return 0;
  // Of what cannot be read there is none: if the source has some they are set, and write has the reason if that fails.
  (void)!(*name == '\0' ? rd_xattrs_read_fd(decider->xattrs, fd) : rd_xattrs_read_name(decider->xattrs, fd, name));
  const struct rd_attributes *found = rd_xattrs_found(decider->xattrs);
  struct rd_xattr xattr;
  unsigned reasons = 0;
  // One that this process may not set (trusted.* as a user) would differ for ever.
  for (size_t at = 0; rd_attributes_next(attributes, &at, &xattr);)
    if (rd_xattr_is_wanted(decider->xattrs, xattr.name) && !rd_attributes_have(found, &xattr))
      reasons |= reason_of(xattr.name);
  for (size_t at = 0; rd_attributes_next(found, &at, &xattr);)
    if (!rd_attributes_have_name(attributes, xattr.name)) reasons |= reason_of(xattr.name);
  return reasons;
}

static unsigned reason_of(struct rd_bytes name) {
  static const char acl[] = "system.posix_acl_";
  bool is_acl = name.count >= sizeof acl - 1 && memcmp(name.at, acl, sizeof acl - 1) == 0;
  return is_acl ? RD_REASON_ACL : RD_REASON_XATTR;
}

static bool is_verified(const struct rd_decider *decider, const struct rd_record *record) {
  return decider->settings->checksum && record->type == RD_RECORD_FILE && record->entry.has_digest;
}

static void note_replaced(struct rd_decider *decider, const struct statx *status) {
  uint64_t identity[2];
  if (rd_name_set_is_full(decider->replaced, REPLACED_MAX)) return;
  rd_name_set_add(decider->replaced, identity_of(status, identity));
}

static struct rd_bytes identity_of(const struct statx *status, uint64_t identity[2]) {
  identity[0] = rd_device_of(status);
  identity[1] = status->stx_ino;
  return (struct rd_bytes){(const unsigned char *)identity, 2 * sizeof *identity};
}

static bool status_below(int top_fd, struct rd_bytes path, struct statx *status) {
  RD_AUTO_FREE char *text = rd_memory_copy((const char *)path.at, path.count);
  struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
  RD_AUTO_CLOSE int fd = top_fd < 0 ? -1 : (int)syscall(SYS_openat2, top_fd, text, &how, sizeof how);
  return fd >= 0 && rd_status_of_fd(fd, status);
}
