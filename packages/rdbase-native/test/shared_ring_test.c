// SPDX-License-Identifier: Apache-2.0
// Tests of a ring that two programs share: one is a fork, or writes what it should not.
#include "ring/shared_ring.h"

#include "base/io.h"
#include "base/pages.h"
#include "test.h"

#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CAPACITY = 1 << 20, STREAM_BYTES = 9 << 20, PIECE_BYTES = 100003 };

static struct rd_error error;

static unsigned char byte_at(uint64_t offset) {
  return (unsigned char)(offset * 31 + (offset >> 8));
}

static void open_both(struct rd_shared_ring *sides[2]) {
  struct rd_ring_fds fds[2];
  REQUIRE(rd_ring_fds_create(fds, &error));
  REQUIRE((sides[RD_RING_WRITER] = rd_shared_ring_open(RD_RING_WRITER, fds[0], &error)) != NULL);
  REQUIRE((sides[RD_RING_READER] = rd_shared_ring_open(RD_RING_READER, fds[1], &error)) != NULL);
}

static void close_both(struct rd_shared_ring *sides[2]) {
  rd_shared_ring_destroy(sides[0]);
  rd_shared_ring_destroy(sides[1]);
}

static bool is_rung(struct rd_shared_ring *shared) {
  struct pollfd bell = {.fd = rd_shared_ring_poll_fd(shared), .events = POLLIN};
  return poll(&bell, 1, 0) == 1;
}

static void either_side_makes_it(void) {
  for (int maker = 0; maker < 2; maker++) {
    struct rd_shared_ring *sides[2];
    open_both(sides);
    struct rd_shared_ring *first = sides[maker], *second = sides[!maker];
    CHECK(rd_shared_ring_get(second, &error) == NULL && error.code == RD_CODE_OK);
    rd_shared_ring_expect_news(second);
    REQUIRE(rd_shared_ring_make(first, CAPACITY, &error) && rd_shared_ring_make(first, 2 * CAPACITY, &error));
    CHECK(is_rung(second));
    rd_shared_ring_woken(second);
    CHECK(!is_rung(second));
    struct rd_ring *ring = rd_shared_ring_get(second, &error);
    REQUIRE(ring != NULL && ring == rd_shared_ring_get(second, &error));
    CHECK(rd_ring_room(ring) == CAPACITY);
    CHECK(*(uint64_t *)rd_shared_ring_notes(second) == 0);
    *(uint64_t *)rd_shared_ring_notes(first) = 7;
    CHECK(*(uint64_t *)rd_shared_ring_notes(second) == 7);
    rd_ring_set_limit(rd_shared_ring_get(sides[RD_RING_READER], &error), 1000);
    CHECK(rd_ring_room(rd_shared_ring_get(sides[RD_RING_WRITER], &error)) == 1000);
    close_both(sides);
  }
}

static void bytes_are_in_one_piece(void) {
  struct rd_shared_ring *sides[2];
  open_both(sides);
  REQUIRE(rd_shared_ring_make(sides[RD_RING_READER], CAPACITY, &error));
  size_t bytes;
  (void)rd_ring_memory(rd_shared_ring_get(sides[RD_RING_WRITER], &error), &bytes);
  unsigned char *last = rd_shared_ring_at(sides[RD_RING_WRITER], bytes - 3);
  memcpy(last, "abcdef", 6);
  CHECK(memcmp(rd_shared_ring_at(sides[RD_RING_READER], 5 * bytes - 3), "abcdef", 6) == 0);
  CHECK(memcmp(rd_shared_ring_at(sides[RD_RING_READER], 0), "def", 3) == 0);
  close_both(sides);
}

static void write_stream(struct rd_shared_ring *shared) {
  unsigned char piece[PIECE_BYTES];
  for (uint64_t offset = 0; offset < STREAM_BYTES;) {
    size_t count = STREAM_BYTES - offset < sizeof piece ? STREAM_BYTES - (size_t)offset : sizeof piece;
    for (size_t i = 0; i < count; i++) piece[i] = byte_at(offset + i);
    while (!rd_ring_put(rd_shared_ring_get(shared, &error), piece, count)) {
      rd_shared_ring_expect_news(shared);
      if (rd_ring_room(rd_shared_ring_get(shared, &error)) >= count) continue;
      if (rd_wait_fd(rd_shared_ring_poll_fd(shared), POLLIN, WAIT_MS) != 1) return;
      rd_shared_ring_woken(shared);
    }
    rd_shared_ring_tell(shared);
    offset += count;
  }
}

static void between_processes(void) {
  struct rd_shared_ring *sides[2];
  open_both(sides);
  REQUIRE(rd_shared_ring_make(sides[RD_RING_WRITER], CAPACITY, &error));
  pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) {
    rd_shared_ring_destroy(sides[RD_RING_READER]);
    write_stream(sides[RD_RING_WRITER]);
    _exit(0);
  }
  rd_shared_ring_destroy(sides[RD_RING_WRITER]);
  struct rd_shared_ring *shared = sides[RD_RING_READER];
  struct rd_ring *ring = rd_shared_ring_get(shared, &error);
  uint64_t offset = 0, wrong = 0;
  while (offset < STREAM_BYTES && rd_shared_ring_poll_fd(shared) >= 0) {
    const unsigned char *bytes;
    size_t count = rd_ring_peek(ring, offset, SIZE_MAX, &bytes);
    for (size_t i = 0; i < count; i++) wrong += bytes[i] != byte_at(offset + i);
    offset += count;
    rd_ring_release(ring, offset);
    rd_shared_ring_tell(shared);
    rd_shared_ring_expect_news(shared);
    if (rd_ring_filled(ring) > offset || offset == STREAM_BYTES) continue;
    REQUIRE(rd_wait_fd(rd_shared_ring_poll_fd(shared), POLLIN, WAIT_MS) == 1);
    rd_shared_ring_woken(shared);
  }
  CHECK(offset == STREAM_BYTES && wrong == 0);
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  while (rd_shared_ring_poll_fd(shared) >= 0) rd_shared_ring_woken(shared); // the writer is gone
  rd_shared_ring_destroy(shared);
}

// The other program can write anything there, but not make this one use other memory.
static void wild_values(void) {
  struct rd_ring_fds fds[2];
  REQUIRE(rd_ring_fds_create(fds, &error));
  int memory_fd = dup(fds[0].memory);
  struct rd_shared_ring *writer = rd_shared_ring_open(RD_RING_WRITER, fds[0], &error);
  struct rd_shared_ring *reader = rd_shared_ring_open(RD_RING_READER, fds[1], &error);
  REQUIRE(writer != NULL && reader != NULL && rd_shared_ring_make(writer, CAPACITY, &error));
  struct rd_ring *to = rd_shared_ring_get(writer, &error), *from = rd_shared_ring_get(reader, &error);
  struct rd_ring_cursors *cursors = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
  REQUIRE(cursors != MAP_FAILED);
  size_t capacity;
  const unsigned char *bytes, *memory = rd_ring_memory(from, &capacity);
  atomic_store(&cursors->filled, UINT64_MAX - 5);
  size_t seen = rd_ring_peek(from, 10, SIZE_MAX, &bytes);
  CHECK(bytes == memory + 10 && seen == capacity - 10);
  atomic_store(&cursors->filled, 100);
  atomic_store(&cursors->released, 5000);
  CHECK(rd_ring_room(to) == 0 && !rd_ring_put(to, memory, 1));
  atomic_store(&cursors->released, 0);
  atomic_store(&cursors->limit, SIZE_MAX);
  CHECK(rd_ring_room(to) == capacity - 100);
  CHECK(ftruncate(memory_fd, 4096) < 0); // it cannot shrink below what is mapped
  munmap(cursors, 4096);
  close(memory_fd);
  rd_shared_ring_destroy(writer);
  rd_shared_ring_destroy(reader);
}

static void impossible(void) {
  CHECK(rd_shared_ring_open(RD_RING_READER, RD_NO_RING_FDS, &error) == NULL && error.code == RD_CODE_INTERNAL);
  rd_shared_ring_destroy(NULL);
  struct rd_shared_ring *sides[2];
  open_both(sides);
  CHECK(!rd_shared_ring_make(sides[0], SIZE_MAX / 4, &error) && error.code == RD_CODE_INTERNAL);
  close_both(sides);
}

int main(void) {
  either_side_makes_it();
  bytes_are_in_one_piece();
  between_processes();
  wild_values();
  impossible();
  return test_end("shared ring");
}
