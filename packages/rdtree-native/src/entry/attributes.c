// SPDX-License-Identifier: Apache-2.0
#include "entry/attributes.h"

#include "base/bytes.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES 8u // lengths of name and value

static bool is_same(struct rd_bytes one, struct rd_bytes other);

void rd_attributes_add(struct rd_attributes *attributes, const struct rd_xattr *xattr) {
  size_t more = HEAD_BYTES + xattr->name.count + 1 + xattr->value.count;
  if (attributes->room - attributes->count < more) {
    attributes->room = 2 * attributes->count + more;
    attributes->bytes = rd_memory_resize(attributes->bytes, attributes->room, 1);
  }
  unsigned char *at = attributes->bytes + attributes->count;
  rd_put_u32(at, (uint32_t)xattr->name.count);
  rd_put_u32(at + 4, (uint32_t)xattr->value.count);
  memcpy(at + HEAD_BYTES, xattr->name.at, xattr->name.count);
  at[HEAD_BYTES + xattr->name.count] = '\0';
  if (xattr->value.count > 0) memcpy(at + HEAD_BYTES + xattr->name.count + 1, xattr->value.at, xattr->value.count);
  attributes->count += more;
}

void rd_attributes_clear(struct rd_attributes *attributes) {
  free(attributes->bytes);
  *attributes = (struct rd_attributes){0};
}

bool rd_attributes_next(const struct rd_attributes *attributes, size_t *at, struct rd_xattr *xattr) {
  if (*at >= attributes->count) return false;
  const unsigned char *head = attributes->bytes + *at;
  xattr->name = (struct rd_bytes){head + HEAD_BYTES, rd_get_u32(head)};
  xattr->value = (struct rd_bytes){xattr->name.at + xattr->name.count + 1, rd_get_u32(head + 4)};
  *at += HEAD_BYTES + xattr->name.count + 1 + xattr->value.count;
  return true;
}

bool rd_attributes_have_name(const struct rd_attributes *attributes, struct rd_bytes name) {
  struct rd_xattr other;
  for (size_t at = 0; rd_attributes_next(attributes, &at, &other);)
    if (is_same(other.name, name)) return true;
  return false;
}

bool rd_attributes_have(const struct rd_attributes *attributes, const struct rd_xattr *xattr) {
  struct rd_xattr other;
  for (size_t at = 0; rd_attributes_next(attributes, &at, &other);)
    if (is_same(other.name, xattr->name)) return is_same(other.value, xattr->value);
  return false;
}

bool rd_attributes_put(const struct rd_attributes *attributes, struct rd_stream_writer *writer,
                       struct rd_error *error) {
  struct rd_record record = {.type = RD_RECORD_XATTR};
  for (size_t at = 0; rd_attributes_next(attributes, &at, &record.xattr);)
    if (!rd_stream_put(writer, &record, error)) return false;
  return true;
}

static bool is_same(struct rd_bytes one, struct rd_bytes other) {
  return one.count == other.count && (one.count == 0 || memcmp(one.at, other.at, one.count) == 0);
}
