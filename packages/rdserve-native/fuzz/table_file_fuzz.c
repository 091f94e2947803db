// SPDX-License-Identifier: Apache-2.0
// Fuzzes the reader of a server's file of clients.
#include "serve/table_file.h"

#include "base/error.h"
#include "fuzz.h"

#include <string.h>

struct seen {
  size_t size;
  unsigned last;
};

static bool on_line(void *context, const struct rd_table_line *line, struct rd_error *error) {
  struct seen *seen = context;
  FUZZ_REQUIRE(line->number > seen->last && line->number <= seen->size);
  FUZZ_REQUIRE(line->table[0] != '\0' && line->name[0] != '\0');
  FUZZ_REQUIRE(strlen(line->value) < RD_TABLE_VALUE_BYTES && strlen(line->key) < RD_TABLE_NAME_BYTES);
  FUZZ_REQUIRE(strpbrk(line->value, "\"\\\n\x01\x7f") == NULL);
  seen->last = line->number;
  rd_error_set(error, RD_CODE_USAGE, "refused");
  return line->value[0] != '!';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct seen seen = {.size = size};
  struct rd_error error = {0};
  bool good = rd_table_file_read((const char *)data, size, on_line, &seen, &error);
  FUZZ_REQUIRE(good || (error.code == RD_CODE_USAGE && strncmp(error.message, "line ", 5) == 0));
  return 0;
}
