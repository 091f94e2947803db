// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static void *checked(void *memory);

void *rd_memory_new(size_t count, size_t bytes_each) {
  return checked(calloc(count ? count : 1, bytes_each));
}

void *rd_memory_resize(void *memory, size_t count, size_t bytes_each) {
  return checked(reallocarray(memory, count ? count : 1, bytes_each));
}

char *rd_memory_copy(const char *bytes, size_t count) {
  char *copy = rd_memory_new(count + 1, 1);
  memcpy(copy, bytes, count);
  return copy;
}

static void *checked(void *memory) {
  if (memory == NULL) abort();
  return memory;
}
