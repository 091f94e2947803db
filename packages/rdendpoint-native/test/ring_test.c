// SPDX-License-Identifier: Apache-2.0
#include "ring/ring.h"

#include "base/pages.h"
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

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
  impossible_sizes();
  two_threads();
  stop_ends_the_waiting();
  return test_end("ring");
}
