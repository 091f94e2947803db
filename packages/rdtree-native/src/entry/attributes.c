// SPDX-License-Identifier: Apache-2.0
#include "entry/attributes.h"

#include "base/bytes.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (1u << 20)

bool rd_attributes_add(struct rd_attributes *attributes, const struct rd_xattr *xattr, struct rd_error *error) {
  size_t more = 4 + 4 + xattr->name.count + 1 + xattr->value.count;
  if (attributes->count + more > MOST_BYTES) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the stream of the tree is damaged: too many attributes of one entry");
    return false;
  }
  attributes->bytes = rd_memory_resize(attributes->bytes, attributes->count + more, 1);
  unsigned char *at = attributes->bytes + attributes->count;
  rd_put_u32(at, (uint32_t)xattr->name.count);
  rd_put_u32(at + 4, (uint32_t)xattr->value.count);
  memcpy(at + 8, xattr->name.at, xattr->name.count);
  at[8 + xattr->name.count] = '\0';
  if (xattr->value.count > 0) memcpy(at + 8 + xattr->name.count + 1, xattr->value.at, xattr->value.count);
  attributes->count += more;
  return true;
}

void rd_attributes_clear(struct rd_attributes *attributes) {
  free(attributes->bytes);
  *attributes = (struct rd_attributes){0};
}

bool rd_attributes_next(const struct rd_attributes *attributes, size_t *at, const char **name, struct rd_bytes *value) {
  if (*at >= attributes->count) return false;
  const unsigned char *head = attributes->bytes + *at;
  size_t name_bytes = rd_get_u32(head);
  value->count = rd_get_u32(head + 4);
  *name = (const char *)head + 8;
  value->at = head + 8 + name_bytes + 1;
  *at += 8 + name_bytes + 1 + value->count;
  return true;
}

bool rd_attributes_has(const struct rd_attributes *attributes, const char *name) {
  const char *other;
  struct rd_bytes value;
  for (size_t at = 0; rd_attributes_next(attributes, &at, &other, &value);)
    if (strcmp(other, name) == 0) return true;
  return false;
}
