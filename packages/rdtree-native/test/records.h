// SPDX-License-Identifier: Apache-2.0
// Records for the tests of the tree stream.
#ifndef RD_TREE_TEST_RECORDS_H
#define RD_TREE_TEST_RECORDS_H

#include "stream/record.h"

#include <string.h>

#define ENCODED_MAX (RD_RECORD_HEAD_BYTES + 2 * RD_RECORD_MAX_BYTES)

static unsigned char encoded[ENCODED_MAX], many[ENCODED_MAX];

static inline struct rd_bytes bytes(size_t count) {
  memset(many, 'n', count);
  return (struct rd_bytes){many, count};
}

static inline struct rd_record entry(enum rd_record_type type, uint32_t mode, const char *name) {
  struct rd_record record = {.type = type};
  record.entry = (struct rd_entry){.name = rd_bytes_of(name), .metadata = {.mode = mode}};
  if (type == RD_RECORD_SYMLINK || type == RD_RECORD_LINK) record.entry.target = rd_bytes_of("t");
  return record;
}

#endif
