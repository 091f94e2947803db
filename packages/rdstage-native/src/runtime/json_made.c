// SPDX-License-Identifier: Apache-2.0
#include "runtime/json_made.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

json_t *rd_json_made(json_t *value) {
  if (value == NULL) abort();
  return value;
}

json_t *rd_json_made_text(const char *text) {
  if (text == NULL) return json_null();
  size_t bytes = strlen(text);
  RD_AUTO_FREE char *copy = rd_memory_copy(text, bytes);
  rd_text_clean(copy, bytes);
  return rd_json_made(json_string(copy));
}

void rd_json_made_append(json_t *array, json_t *value) {
  if (json_array_append_new(array, value)) abort();
}
