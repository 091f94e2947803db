// SPDX-License-Identifier: Apache-2.0
#include "stream/buffers.h"

#include "base/memory.h"
#include "base/pages.h"

#include <pthread.h>
#include <stdlib.h>

struct unused {
  struct unused *next;
};

struct rd_buffers {
  pthread_mutex_t lock;
  struct unused *first;
};

struct rd_buffers *rd_buffers_create(void) {
  struct rd_buffers *buffers = rd_memory_new(1, sizeof *buffers);
  pthread_mutex_init(&buffers->lock, NULL);
  return buffers;
}

void rd_buffers_destroy(struct rd_buffers *buffers) {
  if (buffers == NULL) return;
  while (buffers->first != NULL) free(rd_buffers_take(buffers));
  pthread_mutex_destroy(&buffers->lock);
  free(buffers);
}

unsigned char *rd_buffers_take(struct rd_buffers *buffers) {
  pthread_mutex_lock(&buffers->lock);
  struct unused *first = buffers->first;
  if (first != NULL) buffers->first = first->next;
  pthread_mutex_unlock(&buffers->lock);
  unsigned char *buffer = first != NULL ? (unsigned char *)first : rd_pages_allocate(RD_BUFFER_BYTES);
  if (buffer == NULL) abort(); // see base/memory.h
  return buffer;
}

void rd_buffers_give(struct rd_buffers *buffers, unsigned char *buffer) {
  struct unused *unused = (struct unused *)(void *)buffer;
  pthread_mutex_lock(&buffers->lock);
  unused->next = buffers->first;
  buffers->first = unused;
  pthread_mutex_unlock(&buffers->lock);
}
