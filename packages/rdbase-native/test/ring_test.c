// SPDX-License-Identifier: Apache-2.0
#include "ring/ring.h"

#include "base/pages.h"
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct rd_error error;
static const uint64_t stream_bytes = 8 << 20;

static unsigned char byte_at(uint64_t offset) {
  return (unsigned char)(offset * 31 + (offset >> 8));
}

static void one_thread(void) {
  struct rd_ring *ring = rd_ring_create(1, &error);
  REQUIRE(ring != NULL);
  unsigned char *space;
  const unsigned char *bytes = NULL;
  CHECK(rd_ring_peek(ring, 0, 10, &bytes) == 0);
  size_t capacity = rd_ring_reserve(ring, SIZE_MAX, &space);
  CHECK(capacity >= 4096 && (uintptr_t)space % rd_page_bytes() == 0);
  memset(space, 'a', capacity);
  rd_ring_fill(ring, 100);
  CHECK(rd_ring_filled(ring) == 100);
  CHECK(rd_ring_peek(ring, 0, 1000, &bytes) == 100 && bytes == space);
  CHECK(rd_ring_peek(ring, 40, 10, &bytes) == 10 && bytes == space + 40);
  CHECK(rd_ring_peek(ring, 100, 10, &bytes) == 0 && rd_ring_peek(ring, 101, 10, &bytes) == 0);
  rd_ring_release(ring, 50);
  CHECK(rd_ring_peek(ring, 49, 10, &bytes) == 0 && rd_ring_peek(ring, 50, 10, &bytes) == 10);
  rd_ring_release(ring, 20);   // does not decrease
  rd_ring_release(ring, 1000); // nor exceed the filled bytes
  CHECK(rd_ring_peek(ring, 50, 100, &bytes) == 50);
  CHECK(rd_ring_reserve(ring, SIZE_MAX, &space) == capacity - 100);
  rd_ring_fill(ring, capacity - 100);
  CHECK(rd_ring_reserve(ring, 80, &space) == 50); // from the beginning again, up to the bytes that are not released
  rd_ring_fill(ring, 50);
  CHECK(rd_ring_peek(ring, 50, SIZE_MAX, &bytes) == capacity - 50);
  CHECK(rd_ring_peek(ring, capacity, SIZE_MAX, &bytes) == 50);
  rd_ring_stop(ring);
  CHECK(rd_ring_reserve(ring, 1, &space) == 0); // full and stopped: does not wait
  CHECK(rd_ring_peek(ring, capacity, SIZE_MAX, &bytes) == 50);
  rd_ring_destroy(ring);
  rd_ring_destroy(NULL);
}

static void a_limit(void) {
  struct rd_ring *ring = rd_ring_create(3 * rd_page_bytes(), &error);
  REQUIRE(ring != NULL);
  unsigned char *space;
  size_t page = rd_page_bytes();
  rd_ring_set_limit(ring, 100);
  CHECK(rd_ring_reserve(ring, SIZE_MAX, &space) == 100 && rd_ring_room(ring) == 100);
  rd_ring_fill(ring, 100);
  CHECK(rd_ring_is_full(ring));
  rd_ring_set_limit(ring, 4 * page);
  CHECK(rd_ring_room(ring) == 3 * page - 100);
  rd_ring_set_limit(ring, 50); // less than there is
  CHECK(rd_ring_is_full(ring));
  rd_ring_release(ring, 60);
  CHECK(rd_ring_room(ring) == 10);
  rd_ring_destroy(ring);
}

// Returns how many of the ring's pages are in memory.
static size_t resident_pages(const struct rd_ring *ring) {
  size_t bytes, page = rd_page_bytes(), resident = 0;
  const unsigned char *memory = rd_ring_memory(ring, &bytes);
  unsigned char *pages = calloc(bytes / page, 1);
  REQUIRE(pages != NULL && mincore((void *)(uintptr_t)memory, bytes, pages) == 0);
  for (size_t i = 0; i < bytes / page; i++) resident += pages[i] & 1u;
  free(pages);
  return resident;
}

// Goes round several times, in pieces that are not pages. Returns the most pages that were in memory.
static size_t go_round(struct rd_ring *ring, size_t kept_bytes) {
  uint64_t released = 0, filled = 0;
  size_t most_pages = 0;
  const unsigned char *bytes;
  unsigned char *space;
  while (filled < 100u << 20) {
    size_t room = rd_ring_reserve(ring, 1000003, &space);
    memset(space, 1, room);
    rd_ring_fill(ring, room);
    filled += room;
    if (filled - released < kept_bytes) continue;
    released += rd_ring_peek(ring, released, 1100001, &bytes);
    rd_ring_release(ring, released);
    size_t pages = resident_pages(ring);
    if (pages > most_pages) most_pages = pages;
  }
  return most_pages;
}

static void memory_is_returned(void) {
  size_t page = rd_page_bytes(), large = 40u << 20, small = 8u << 20, kept = 4u << 20;
  struct rd_ring *ring = rd_ring_create(large, &error);
  REQUIRE(ring != NULL);
  CHECK(go_round(ring, kept) == large / page);
  rd_ring_destroy(ring);
  REQUIRE((ring = rd_ring_create(large, &error)) != NULL);
  rd_ring_return_memory(ring, true);
  CHECK(rd_ring_room(ring) == large - RD_RING_SPARE_BYTES);
  CHECK(go_round(ring, kept) <= 2 * kept / page);
  rd_ring_destroy(ring);
  REQUIRE((ring = rd_ring_create(small, &error)) != NULL);
  rd_ring_return_memory(ring, true); // without effect
  CHECK(rd_ring_room(ring) == small && go_round(ring, kept) == small / page);
  rd_ring_destroy(ring);
}

// Every byte, while the writer always fills all the space there is.
static void returned_memory_is_not_in_use(void) {
  size_t capacity = 33u << 20;
  struct rd_ring *ring = rd_ring_create(capacity, &error);
  REQUIRE(ring != NULL);
  uint64_t filled = 0, released = 0, wrong = 0;
  unsigned char *space;
  const unsigned char *bytes;
  rd_ring_return_memory(ring, true);
  while (released < 3 * capacity) {
    while (!rd_ring_is_full(ring)) {
      size_t room = rd_ring_reserve(ring, SIZE_MAX, &space);
      for (size_t i = 0; i < room; i++) space[i] = byte_at(filled + i);
      rd_ring_fill(ring, room);
      filled += room;
    }
    size_t count = rd_ring_peek(ring, released, 700001, &bytes);
    for (size_t i = 0; i < count; i++) wrong += bytes[i] != byte_at(released + i);
    released += count;
    rd_ring_release(ring, released);
  }
  CHECK(wrong == 0);
  rd_ring_destroy(ring);
}

static void impossible_sizes(void) {
  CHECK(rd_ring_create(0, &error) == NULL && error.code == RD_CODE_INTERNAL);
  CHECK(rd_ring_create(SIZE_MAX, &error) == NULL);
}

static void *write_stream(void *argument) {
  struct rd_ring *ring = argument;
  unsigned char *space;
  for (uint64_t offset = 0; offset < stream_bytes;) {
    size_t most = 1 + (size_t)(offset % 7001), left = (size_t)(stream_bytes - offset);
    size_t room = rd_ring_reserve(ring, most < left ? most : left, &space);
    if (room == 0) return NULL;
    for (size_t i = 0; i < room; i++) space[i] = byte_at(offset + i);
    rd_ring_fill(ring, room);
    offset += room;
  }
  return ring;
}

static void two_threads(void) {
  struct rd_ring *ring = rd_ring_create(64 << 10, &error);
  REQUIRE(ring != NULL);
  pthread_t writer;
  REQUIRE(pthread_create(&writer, NULL, write_stream, ring) == 0);
  uint64_t offset = 0, wrong = 0;
  while (offset < stream_bytes) {
    const unsigned char *bytes;
    size_t count = rd_ring_peek(ring, offset, 5000, &bytes);
    for (size_t i = 0; i < count; i++) wrong += bytes[i] != byte_at(offset + i);
    offset += count;
    rd_ring_release(ring, offset > 10000 ? offset - 10000 : 0); // bytes that are not acknowledged stay
    if (count == 0) {
      rd_ring_release(ring, offset);
      sched_yield();
    }
  }
  void *whole;
  pthread_join(writer, &whole);
  CHECK(whole != NULL && wrong == 0 && rd_ring_filled(ring) == stream_bytes);
  rd_ring_destroy(ring);
}

static void stop_ends_the_waiting(void) {
  struct rd_ring *ring = rd_ring_create(rd_page_bytes(), &error);
  REQUIRE(ring != NULL);
  pthread_t writer;
  REQUIRE(pthread_create(&writer, NULL, write_stream, ring) == 0);
  while (rd_ring_filled(ring) < rd_page_bytes()) sched_yield();
  rd_ring_stop(ring);
  void *whole;
  pthread_join(writer, &whole);
  CHECK(whole == NULL && rd_ring_filled(ring) == rd_page_bytes());
  rd_ring_destroy(ring);
}

int main(void) {
  one_thread();
  a_limit();
  memory_is_returned();
  returned_memory_is_not_in_use();
  impossible_sizes();
  two_threads();
  stop_ends_the_waiting();
  return test_end("ring");
}
