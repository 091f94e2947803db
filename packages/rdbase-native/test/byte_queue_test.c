// SPDX-License-Identifier: Apache-2.0
// Tests of the queue: its order while it grows and moves, its lines, and that no secret stays in its memory.
#include "base/byte_queue.h"

#include "test.h"

#include <string.h>

#define PIECE_BYTES 1000u

static bool is_wiped(const unsigned char *memory, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (memory[i] != 0) return false;
  return true;
}

// Appends more than is taken, so that the queue both moves its bytes and grows.
static void test_order(bool is_secret) {
  struct rd_byte_queue queue = {.is_secret = is_secret};
  unsigned char piece[PIECE_BYTES], next_in = 0, next_out = 0;
  for (unsigned round = 0; round < 200; round++) {
    for (size_t i = 0; i < sizeof piece; i++) piece[i] = next_in++;
    rd_byte_queue_append(&queue, piece, sizeof piece);
    size_t count = round % 50 == 49 ? rd_byte_queue_count(&queue) : PIECE_BYTES * 3 / 4;
    for (size_t i = 0; i < count; i++) REQUIRE(rd_byte_queue_first(&queue)[i] == next_out++);
    rd_byte_queue_take(&queue, count);
    if (is_secret) CHECK(is_wiped(queue.memory, queue.start));
    if (is_secret) CHECK(is_wiped(queue.memory + queue.end, queue.capacity - queue.end));
  }
  CHECK(rd_byte_queue_count(&queue) == 0);
  rd_byte_queue_clear(&queue);
  CHECK(queue.memory == NULL && queue.is_secret == is_secret);
}

static void test_lines(void) {
  struct rd_byte_queue queue = {0};
  size_t count;
  CHECK(rd_byte_queue_line(&queue, &count) == NULL);
  rd_byte_queue_append(&queue, "one\n\ntw", 7);
  const char *line = rd_byte_queue_line(&queue, &count);
  CHECK(line != NULL && count == 3 && strcmp(line, "one") == 0);
  rd_byte_queue_take(&queue, count + 1);
  line = rd_byte_queue_line(&queue, &count);
  CHECK(line != NULL && count == 0 && *line == '\0');
  rd_byte_queue_take(&queue, count + 1);
  CHECK(rd_byte_queue_line(&queue, &count) == NULL);
  rd_byte_queue_append(&queue, "o\n", 2);
  line = rd_byte_queue_line(&queue, &count);
  CHECK(line != NULL && count == 3 && strcmp(line, "two") == 0);
  rd_byte_queue_clear(&queue);
}

static void test_insertion(void) {
  struct rd_byte_queue queue = {0};
  rd_byte_queue_append(&queue, "xad\n", 4);
  rd_byte_queue_take(&queue, 1);
  CHECK(rd_byte_queue_line(&queue, &(size_t){0}) != NULL);
  rd_byte_queue_insert(&queue, 1, "b\nc", 3);
  rd_byte_queue_insert(&queue, 6, "e", 1);
  size_t count;
  CHECK(rd_byte_queue_count(&queue) == 7 && memcmp(rd_byte_queue_first(&queue), "ab\ncd\0e", 7) == 0);
  CHECK(rd_byte_queue_line(&queue, &count) != NULL && count == 2);
  rd_byte_queue_clear(&queue);
}

int main(void) {
  test_order(false);
  test_order(true);
  test_lines();
  test_insertion();
  return test_end("byte queue");
}
