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

struct found {
  const char *name;
  size_t offset, count; // of its value in `values`
};

struct rd_xattrs {
  bool wants_acls, wants_others, is_root;
  char *names; // as the system lists them, each with a NUL after it; NULL: none are asked for
  char *path;  // of the entry below /proc/self/fd
  struct found *found;
  size_t count, found_room;
  unsigned char *values;
  size_t filled, room;
};

static bool read_values(struct rd_xattrs *xattrs, const char *path, ssize_t listed);
static bool read_value(struct rd_xattrs *xattrs, const char *path, const char *name);
static bool begins(struct rd_bytes name, const char *text);
static bool is(struct rd_bytes name, const char *text);

struct rd_xattrs *rd_xattrs_create(const struct rd_tree_settings *settings) {
  struct rd_xattrs *xattrs = rd_memory_new(1, sizeof *xattrs);
  xattrs->wants_acls = settings->acls;
  xattrs->wants_others = settings->xattrs;
  xattrs->is_root = geteuid() == 0 && !rd_root_is_set();
  if (!settings->acls && !settings->xattrs) return xattrs;
  xattrs->names = rd_memory_new(LIST_MAX_BYTES, 1);
  xattrs->path = rd_memory_new(sizeof "/proc/self/fd//" + 16 + RD_NAME_MAX_BYTES, 1);
  return xattrs;
}

void rd_xattrs_destroy(struct rd_xattrs *xattrs) {
  if (xattrs == NULL) return;
  free(xattrs->names);
  free(xattrs->path);
  free(xattrs->found);
  free(xattrs->values);
  free(xattrs);
}

bool rd_xattr_is_wanted(const struct rd_xattrs *xattrs, struct rd_bytes name) {
  if (is(name, "system.posix_acl_access") || is(name, "system.posix_acl_default")) return xattrs->wants_acls;
  if (!xattrs->wants_others) return false;
  if (!xattrs->is_root) return begins(name, "user.");
  return !begins(name, "system.") && !begins(name, "lustre.") && !is(name, "security.selinux");
}

// There are no calls for a name in an open directory, and a link cannot be opened for reading: both by /proc.
bool rd_xattrs_read_name(struct rd_xattrs *xattrs, int fd, const char *name) {
  xattrs->count = xattrs->filled = 0;
  if (xattrs->names == NULL) return true;
  sprintf(xattrs->path, "/proc/self/fd/%d/%.*s", fd, (int)RD_NAME_MAX_BYTES, name);
  return read_values(xattrs, xattrs->path, llistxattr(xattrs->path, xattrs->names, LIST_MAX_BYTES));
}

bool rd_xattrs_read_fd(struct rd_xattrs *xattrs, int fd) {
  xattrs->count = xattrs->filled = 0;
  if (xattrs->names == NULL) return true;
  sprintf(xattrs->path, "/proc/self/fd/%d", fd);
  return read_values(xattrs, NULL, listxattr(xattrs->path, xattrs->names, LIST_MAX_BYTES));
}

size_t rd_xattrs_count(const struct rd_xattrs *xattrs) {
  return xattrs->count;
}

struct rd_xattr rd_xattrs_at(const struct rd_xattrs *xattrs, size_t index) {
  const struct found *found = &xattrs->found[index];
  return (struct rd_xattr){rd_bytes_of(found->name), {xattrs->values + found->offset, found->count}};
}

bool rd_xattrs_put(const struct rd_xattrs *xattrs, struct rd_stream_writer *writer, struct rd_error *error) {
  for (size_t i = 0; i < xattrs->count; i++) {
    struct rd_record record = {.type = RD_RECORD_XATTR, .xattr = rd_xattrs_at(xattrs, i)};
    if (!rd_stream_put(writer, &record, error)) return false;
  }
  return true;
}

// `listed`: bytes of the names, or -1.
static bool read_values(struct rd_xattrs *xattrs, const char *path, ssize_t listed) {
  if (listed < 0) return errno == ENOTSUP || errno == ENOSYS;
  for (const char *name = xattrs->names; name < xattrs->names + listed; name += strlen(name) + 1) {
    if (!rd_xattr_is_wanted(xattrs, rd_bytes_of(name)) || read_value(xattrs, path, name)) continue;
    int number = errno;
    xattrs->count = xattrs->filled = 0;
    errno = number;
    return false;
  }
  return true;
}

// `path`: not followed; NULL: xattrs->path, followed.
static bool read_value(struct rd_xattrs *xattrs, const char *path, const char *name) {
  if (xattrs->room - xattrs->filled < VALUE_MAX_BYTES) {
    xattrs->room = 2 * xattrs->room + VALUE_MAX_BYTES;
    xattrs->values = rd_memory_resize(xattrs->values, xattrs->room, 1);
  }
  if (xattrs->count == xattrs->found_room) {
    xattrs->found_room = 2 * xattrs->found_room + 16;
    xattrs->found = rd_memory_resize(xattrs->found, xattrs->found_room, sizeof *xattrs->found);
  }
  unsigned char *value = xattrs->values + xattrs->filled;
  ssize_t count = path == NULL ? getxattr(xattrs->path, name, value, VALUE_MAX_BYTES)
                               : lgetxattr(path, name, value, VALUE_MAX_BYTES);
  if (count < 0) return errno == ENODATA; // it was removed after the list was made
  xattrs->found[xattrs->count++] = (struct found){name, xattrs->filled, (size_t)count};
  xattrs->filled += (size_t)count;
  return true;
}

static bool begins(struct rd_bytes name, const char *text) {
  size_t count = strlen(text);
  return name.count >= count && memcmp(name.at, text, count) == 0;
}

static bool is(struct rd_bytes name, const char *text) {
  return name.count == strlen(text) && begins(name, text);
}
