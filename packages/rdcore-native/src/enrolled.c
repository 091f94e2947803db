// SPDX-License-Identifier: Apache-2.0
#include "enrolled.h"

#include "pages.h"

#include <stdlib.h>

void rd_enrolled_init(struct rd_enrolled *enrolled, struct rd_transport *transport, const struct rd_window *window) {
  size_t most_bytes = transport->ops->memory_most_bytes(transport), used_bytes = rd_window_memory_bytes(window);
  *enrolled = (struct rd_enrolled){.transport = transport};
  enrolled->left_bytes = most_bytes > used_bytes ? most_bytes - used_bytes : 0;
  if (most_bytes == SIZE_MAX) enrolled->left_bytes = SIZE_MAX;
}

bool rd_enrolled_add(struct rd_enrolled *enrolled, const void *memory, size_t bytes, struct rd_error *error) {
  if (!enrolled->transport->ops->enroll(enrolled->transport, memory, bytes, error)) return false;
  if (enrolled->left_bytes != SIZE_MAX) enrolled->left_bytes -= bytes;
  return true;
}

unsigned char *rd_enrolled_make(struct rd_enrolled *enrolled, size_t bytes, struct rd_error *error) {
  if (bytes > enrolled->left_bytes) {
    rd_window_too_small(error);
    return NULL;
  }
  unsigned char *memory = rd_pages_allocate(bytes);
  if (memory == NULL) rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
  if (memory != NULL && rd_enrolled_add(enrolled, memory, bytes, error)) return memory;
  free(memory);
  return NULL;
}
