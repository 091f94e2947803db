// SPDX-License-Identifier: Apache-2.0
#include "entry/xattrs.h"

#include "base/memory.h"
#include "entry/root.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LIST_MAX_BYTES (64u << 10)  // XATTR_LIST_MAX
#define VALUE_MAX_BYTES (64u << 10) // XATTR_SIZE_MAX

struct rd_xattrs {
  const struct rd_tree_settings *settings;
  bool is_root;
  char *names;          // as the system lists them, each with a NUL after it; NULL: none are requested
  char *path;           // of the entry below /proc/self/fd
  unsigned char *value; // of the attribute that is being read
  struct rd_attributes found;
};

static bool read_all(struct rd_xattrs *xattrs, bool is_followed);
static bool is_acl(struct rd_bytes name);
static bool begins(struct rd_bytes name, const char *text);
static bool is(struct rd_bytes name, const char *text);

struct rd_xattrs *rd_xattrs_create(const struct rd_tree_settings *settings) {
  struct rd_xattrs *xattrs = rd_memory_new(1, sizeof *xattrs);
  xattrs->settings = settings;
  xattrs->is_root = geteuid() == 0 && !rd_root_is_set();
  if (!settings->acls && !settings->xattrs) return xattrs;
  xattrs->names = rd_memory_new(LIST_MAX_BYTES, 1);
  xattrs->path = rd_memory_new(sizeof "/proc/self/fd//" + 16 + RD_NAME_MAX_BYTES, 1);
  xattrs->value = rd_memory_new(VALUE_MAX_BYTES, 1);
  return xattrs;
}

void rd_xattrs_destroy(struct rd_xattrs *xattrs) {
  if (xattrs == NULL) return;
  rd_attributes_clear(&xattrs->found);
  free(xattrs->names);
  free(xattrs->path);
  free(xattrs->value);
  free(xattrs);
}

bool rd_xattr_is_asked_for(const struct rd_tree_settings *settings, struct rd_bytes name) {
  if (is_acl(name)) return settings->acls;
  return settings->xattrs && !begins(name, "system.") && !begins(name, "lustre.") && !is(name, "security.selinux");
}

bool rd_xattr_is_wanted(const struct rd_xattrs *xattrs, struct rd_bytes name) {
  bool may_be_set = xattrs->is_root || is_acl(name) || begins(name, "user.");
  return may_be_set && rd_xattr_is_asked_for(xattrs->settings, name);
}

// Uses /proc/self/fd: these calls take no directory descriptor (before Linux 6.13), and a symbolic link cannot be
// opened for reading.
bool rd_xattrs_read_name(struct rd_xattrs *xattrs, int fd, const char *name) {
  if (xattrs->names == NULL) return true;
  sprintf(xattrs->path, "/proc/self/fd/%d/%.*s", fd, (int)RD_NAME_MAX_BYTES, name);
  return read_all(xattrs, false);
}

bool rd_xattrs_read_fd(struct rd_xattrs *xattrs, int fd) {
  if (xattrs->names == NULL) return true;
  sprintf(xattrs->path, "/proc/self/fd/%d", fd);
  return read_all(xattrs, true);
}

const struct rd_attributes *rd_xattrs_found(const struct rd_xattrs *xattrs) {
  return &xattrs->found;
}

static bool read_all(struct rd_xattrs *xattrs, bool is_followed) {
  const char *path = xattrs->path;
  size_t bytes = 0;
  xattrs->found.count = 0;
  ssize_t listed = (is_followed ? listxattr : llistxattr)(path, xattrs->names, LIST_MAX_BYTES);
  if (listed < 0) return errno == ENOTSUP || errno == ENOSYS;
  for (const char *name = xattrs->names; name < xattrs->names + listed; name += strlen(name) + 1) {
    if (!rd_xattr_is_wanted(xattrs, rd_bytes_of(name))) continue;
    ssize_t count = (is_followed ? getxattr : lgetxattr)(path, name, xattrs->value, VALUE_MAX_BYTES);
    if (count < 0 && errno == ENODATA) continue; // removed since the names were listed
    struct rd_xattr xattr = {rd_bytes_of(name), {xattrs->value, count < 0 ? 0 : (size_t)count}};
    bytes += rd_xattr_bytes(&xattr);
    if (count >= 0 && bytes > RD_XATTRS_MAX_BYTES) errno = E2BIG;
    if (count < 0 || bytes > RD_XATTRS_MAX_BYTES) {
      xattrs->found.count = 0;
      return false;
    }
    rd_attributes_add(&xattrs->found, &xattr);
  }
  return true;
}

static bool is_acl(struct rd_bytes name) {
  return is(name, "system.posix_acl_access") || is(name, "system.posix_acl_default");
}

static bool begins(struct rd_bytes name, const char *text) {
  size_t count = strlen(text);
  return name.count >= count && memcmp(name.at, text, count) == 0;
}

static bool is(struct rd_bytes name, const char *text) {
  return name.count == strlen(text) && begins(name, text);
}
