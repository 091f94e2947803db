// SPDX-License-Identifier: Apache-2.0
#include "compare/source_attributes.h"

#include "base/memory.h"
#include "compare/difference.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (16u << 20)
#define COUNT_MAX 4096u

struct place {
  size_t offset, name_bytes, value_bytes; // the value follows the name
};

struct rd_source_attributes {
  unsigned char *bytes;
  size_t filled, room;
  struct place *places;
  size_t count, place_room;
};

static struct rd_xattr attribute_at(const struct rd_source_attributes *attributes, size_t index);
static void append(struct rd_source_attributes *attributes, struct rd_bytes bytes);
static bool target_has(const struct rd_xattrs *target, const struct rd_xattr *attribute);
static bool source_has_name(const struct rd_source_attributes *attributes, struct rd_bytes name);
static bool is_same(struct rd_bytes one, struct rd_bytes other);
static unsigned reason_of(struct rd_bytes name);

struct rd_source_attributes *rd_source_attributes_create(void) {
  return rd_memory_new(1, sizeof(struct rd_source_attributes));
}

void rd_source_attributes_destroy(struct rd_source_attributes *attributes) {
  if (attributes == NULL) return;
  free(attributes->bytes);
  free(attributes->places);
  free(attributes);
}

bool rd_source_attributes_add(struct rd_source_attributes *attributes, const struct rd_xattr *xattr,
                              struct rd_error *error) {
  size_t bytes = xattr->name.count + xattr->value.count;
  if (attributes->count == COUNT_MAX || attributes->filled + bytes > BYTES_MAX) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the stream of the tree is damaged: an entry with too many attributes");
    return false;
  }
  if (attributes->count == attributes->place_room) {
    attributes->place_room = 2 * attributes->place_room + 16;
    attributes->places = rd_memory_resize(attributes->places, attributes->place_room, sizeof *attributes->places);
  }
  attributes->places[attributes->count++] = (struct place){attributes->filled, xattr->name.count, xattr->value.count};
  append(attributes, xattr->name);
  append(attributes, xattr->value);
  return true;
}

void rd_source_attributes_clear(struct rd_source_attributes *attributes) {
  attributes->count = attributes->filled = 0;
}

bool rd_source_attributes_put(const struct rd_source_attributes *attributes, struct rd_stream_writer *writer,
                              struct rd_error *error) {
  for (size_t i = 0; i < attributes->count; i++) {
    struct rd_record record = {.type = RD_RECORD_XATTR, .xattr = attribute_at(attributes, i)};
    if (!rd_stream_put(writer, &record, error)) return false;
  }
  return true;
}

unsigned rd_source_attributes_difference(const struct rd_source_attributes *attributes,
                                         const struct rd_xattrs *target) {
  unsigned reasons = 0;
  for (size_t i = 0; i < attributes->count; i++) {
    struct rd_xattr attribute = attribute_at(attributes, i);
    // One that this process may not set (trusted.* as a user) would differ for ever.
    if (rd_xattr_is_wanted(target, attribute.name) && !target_has(target, &attribute))
      reasons |= reason_of(attribute.name);
  }
  for (size_t i = 0; i < rd_xattrs_count(target); i++) {
    struct rd_bytes name = rd_xattrs_at(target, i).name;
    if (!source_has_name(attributes, name)) reasons |= reason_of(name);
  }
  return reasons;
}

static struct rd_xattr attribute_at(const struct rd_source_attributes *attributes, size_t index) {
  const struct place *place = &attributes->places[index];
  const unsigned char *at = attributes->bytes + place->offset;
  return (struct rd_xattr){{at, place->name_bytes}, {at + place->name_bytes, place->value_bytes}};
}

static void append(struct rd_source_attributes *attributes, struct rd_bytes bytes) {
  if (attributes->filled + bytes.count > attributes->room) {
    attributes->room = 2 * (attributes->filled + bytes.count);
    attributes->bytes = rd_memory_resize(attributes->bytes, attributes->room, 1);
  }
  if (bytes.count > 0) memcpy(attributes->bytes + attributes->filled, bytes.at, bytes.count);
  attributes->filled += bytes.count;
}

static bool target_has(const struct rd_xattrs *target, const struct rd_xattr *attribute) {
  for (size_t i = 0; i < rd_xattrs_count(target); i++) {
    struct rd_xattr other = rd_xattrs_at(target, i);
    if (is_same(other.name, attribute->name)) return is_same(other.value, attribute->value);
  }
  return false;
}

static bool source_has_name(const struct rd_source_attributes *attributes, struct rd_bytes name) {
  for (size_t i = 0; i < attributes->count; i++)
    if (is_same(attribute_at(attributes, i).name, name)) return true;
  return false;
}

static bool is_same(struct rd_bytes one, struct rd_bytes other) {
  return one.count == other.count && (one.count == 0 || memcmp(one.at, other.at, one.count) == 0);
}

static unsigned reason_of(struct rd_bytes name) {
  static const char acl[] = "system.posix_acl_";
  bool is_acl = name.count >= sizeof acl - 1 && memcmp(name.at, acl, sizeof acl - 1) == 0;
  return is_acl ? RD_REASON_ACL : RD_REASON_XATTR;
}
