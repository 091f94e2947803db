// SPDX-License-Identifier: Apache-2.0
#include "transport/registered.h"

#include "base/pages.h"

#include <stdlib.h>

void rd_registered_init(struct rd_registered *registered, struct rd_transport *transport,
                        const struct rd_window *window) {
  size_t most_bytes = transport->ops->memory_most_bytes(transport), used_bytes = rd_window_memory_bytes(window);
  *registered = (struct rd_registered){.transport = transport};
  registered->left_bytes = most_bytes > used_bytes ? most_bytes - used_bytes : 0;
  if (most_bytes == SIZE_MAX) registered->left_bytes = SIZE_MAX;
}

bool rd_registered_add(struct rd_registered *registered, const void *memory, size_t bytes, struct rd_error *error) {
  if (!registered->transport->ops->register_memory(registered->transport, memory, bytes, error)) return false;
  if (registered->left_bytes != SIZE_MAX) registered->left_bytes -= bytes;
  return true;
}

unsigned char *rd_registered_make(struct rd_registered *registered, size_t bytes, struct rd_error *error) {
  if (bytes > registered->left_bytes) {
    rd_window_too_small(error);
    return NULL;
  }
  unsigned char *memory = rd_pages_allocate(bytes);
  if (memory == NULL) rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
  if (memory != NULL && rd_registered_add(registered, memory, bytes, error)) return memory;
  free(memory);
  return NULL;
}
