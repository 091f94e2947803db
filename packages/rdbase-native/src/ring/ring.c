// SPDX-License-Identifier: Apache-2.0
#include "ring/ring.h"

#include "base/memory.h"
#include "base/pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RETURNS_FROM_BYTES (32u << 20) // smaller rings keep their memory
#define RETURNED_AT_ONCE_BYTES (RD_RING_SPARE_BYTES / 2)

struct rd_ring {
  unsigned char *memory;
  bool is_shared; // memory and cursors belong to the caller
  size_t capacity;
  bool returns_memory;
  uint64_t returned; // offset, of a whole page: the memory up to it was returned
  struct rd_ring_cursors own;
  // Only the writer advances `filled`, with sequential consistency: its reader may first set a flag that the writer
  // reads afterwards (reader.c in rdsend-native). Only the reader advances `released`, with the lock held: the writer
  // waits for it.
  struct rd_ring_cursors *cursors;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool stopped;
};

static struct rd_ring *new_ring(void);
static void return_memory(struct rd_ring *ring, uint64_t end);
static size_t wait_for_space(struct rd_ring *ring, uint64_t filled);
static size_t room_for(const struct rd_ring *ring, uint64_t used);
static size_t smallest(size_t first, size_t second, size_t third);

struct rd_ring *rd_ring_create(size_t capacity_bytes, struct rd_error *error) {
  struct rd_ring *ring = new_ring();
  if (capacity_bytes > 0 && capacity_bytes <= SIZE_MAX - rd_page_bytes()) {
    ring->capacity = rd_pages_round(capacity_bytes);
    ring->memory = rd_pages_allocate(ring->capacity);
    atomic_store(&ring->own.limit, ring->capacity);
  }
  if (ring->memory != NULL) return ring;
  rd_ring_destroy(ring);
  rd_error_set(error, RD_CODE_INTERNAL, "no memory for a buffer of %zu bytes (set a smaller --buffer)", capacity_bytes);
  return NULL;
}

struct rd_ring *rd_ring_share(unsigned char *memory, size_t capacity_bytes, struct rd_ring_cursors *cursors) {
  struct rd_ring *ring = new_ring();
  ring->is_shared = true;
  ring->memory = memory;
  ring->capacity = capacity_bytes;
  ring->cursors = cursors;
  return ring;
}

void rd_ring_destroy(struct rd_ring *ring) {
  if (ring == NULL) return;
  pthread_cond_destroy(&ring->changed);
  pthread_mutex_destroy(&ring->lock);
  if (!ring->is_shared) free(ring->memory);
  free(ring);
}

size_t rd_ring_reserve(struct rd_ring *ring, size_t most, unsigned char **space) {
  uint64_t filled = atomic_load_explicit(&ring->cursors->filled, memory_order_relaxed);
  size_t unused = wait_for_space(ring, filled);
  size_t start = (size_t)(filled % ring->capacity);
  *space = ring->memory + start;
  return smallest(unused, ring->capacity - start, most);
}

bool rd_ring_is_full(const struct rd_ring *ring) {
  return rd_ring_room(ring) == 0;
}

void rd_ring_fill(struct rd_ring *ring, size_t bytes) {
  atomic_fetch_add(&ring->cursors->filled, bytes);
}

bool rd_ring_put(struct rd_ring *ring, const unsigned char *bytes, size_t count) {
  if (count > rd_ring_room(ring)) return false;
  size_t start = (size_t)(rd_ring_filled(ring) % ring->capacity);
  size_t first = smallest(count, ring->capacity - start, SIZE_MAX);
  memcpy(ring->memory + start, bytes, first);
  memcpy(ring->memory, bytes + first, count - first);
  rd_ring_fill(ring, count);
  return true;
}

size_t rd_ring_room(const struct rd_ring *ring) {
  return room_for(ring, rd_ring_filled(ring) - rd_ring_released(ring));
}

size_t rd_ring_peek(const struct rd_ring *ring, uint64_t from, size_t most, const unsigned char **bytes) {
  uint64_t filled = rd_ring_filled(ring);
  if (from >= filled || from < atomic_load_explicit(&ring->cursors->released, memory_order_relaxed)) return 0;
  size_t start = (size_t)(from % ring->capacity);
  *bytes = ring->memory + start;
  return smallest((size_t)(filled - from), ring->capacity - start, most);
}

void rd_ring_release(struct rd_ring *ring, uint64_t offset) {
  pthread_mutex_lock(&ring->lock);
  bool forward =
      offset > atomic_load_explicit(&ring->cursors->released, memory_order_relaxed) && offset <= rd_ring_filled(ring);
  if (forward && ring->returns_memory) return_memory(ring, offset);
  if (forward) atomic_store_explicit(&ring->cursors->released, offset, memory_order_release);
  pthread_cond_signal(&ring->changed);
  pthread_mutex_unlock(&ring->lock);
}

void rd_ring_set_limit(struct rd_ring *ring, size_t bytes) {
  size_t most = ring->capacity - (ring->returns_memory || ring->is_shared ? RD_RING_SPARE_BYTES : 0);
  size_t limit = bytes < most ? bytes : most;
  if (limit == atomic_load(&ring->cursors->limit)) return;
  pthread_mutex_lock(&ring->lock);
  atomic_store(&ring->cursors->limit, limit);
  pthread_cond_signal(&ring->changed);
  pthread_mutex_unlock(&ring->lock);
}

void rd_ring_return_memory(struct rd_ring *ring, bool wanted) {
  bool is_new = wanted && ring->capacity > RETURNS_FROM_BYTES && !ring->returns_memory;
  if (is_new) ring->returned = rd_pages_round(rd_ring_released(ring));
  ring->returns_memory = is_new || (wanted && ring->returns_memory);
  rd_ring_set_limit(ring, atomic_load(&ring->cursors->limit));
}

void rd_ring_stop(struct rd_ring *ring) {
  pthread_mutex_lock(&ring->lock);
  ring->stopped = true;
  pthread_cond_signal(&ring->changed);
  pthread_mutex_unlock(&ring->lock);
}

const unsigned char *rd_ring_memory(const struct rd_ring *ring, size_t *bytes) {
  *bytes = ring->capacity;
  return ring->memory;
}

uint64_t rd_ring_filled(const struct rd_ring *ring) {
  return atomic_load(&ring->cursors->filled);
}

uint64_t rd_ring_released(const struct rd_ring *ring) {
  return atomic_load_explicit(&ring->cursors->released, memory_order_acquire);
}

static struct rd_ring *new_ring(void) {
  struct rd_ring *ring = rd_memory_new(1, sizeof *ring);
  ring->cursors = &ring->own;
  pthread_mutex_init(&ring->lock, NULL);
  pthread_cond_init(&ring->changed, NULL);
  return ring;
}

// The writer has not written there again: some of the capacity is always spare. A failure leaves the memory resident.
static void return_memory(struct rd_ring *ring, uint64_t end) {
  int advice = ring->is_shared ? MADV_REMOVE : MADV_DONTNEED;
  end -= end % rd_page_bytes();
  if (end < ring->returned + RETURNED_AT_ONCE_BYTES) return;
  while (ring->returned < end) {
    size_t start = (size_t)(ring->returned % ring->capacity);
    size_t bytes = smallest((size_t)(end - ring->returned), ring->capacity - start, SIZE_MAX);
    (void)madvise(ring->memory + start, bytes, advice);
    ring->returned += bytes;
  }
}

// Returns the number of free bytes, contiguous or not; 0 if the ring was stopped.
static size_t wait_for_space(struct rd_ring *ring, uint64_t filled) {
  pthread_mutex_lock(&ring->lock);
  size_t unused;
  for (;;) {
    unused = room_for(ring, filled - atomic_load_explicit(&ring->cursors->released, memory_order_relaxed));
    if (unused > 0 || ring->stopped) break;
    pthread_cond_wait(&ring->changed, &ring->lock);
  }
  if (ring->stopped) unused = 0;
  pthread_mutex_unlock(&ring->lock);
  return unused;
}

// A limit may have been lowered to less than what is used. The other program may have written any limit.
static size_t room_for(const struct rd_ring *ring, uint64_t used) {
  size_t limit = smallest(atomic_load(&ring->cursors->limit), ring->capacity, SIZE_MAX);
  return used < limit ? limit - (size_t)used : 0;
}

static size_t smallest(size_t first, size_t second, size_t third) {
  size_t two = first < second ? first : second;
  return two < third ? two : third;
}
