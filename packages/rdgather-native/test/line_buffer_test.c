// SPDX-License-Identifier: Apache-2.0
// Tests that lines are found wherever their bytes were split, and that memory is bounded.
#include "gather/line_buffer.h"

#include "test.h"

#include <string.h>

static void put(struct rd_line_buffer *buffer, const char *text, size_t count) {
  while (count > 0) {
    size_t room;
    char *space = rd_line_buffer_room(buffer, &room);
    REQUIRE(space != NULL);
    size_t part = count < room ? count : room;
    memcpy(space, text, part);
    buffer->count += part;
    text += part;
    count -= part;
  }
}

static void test_cuts(void) {
  static const char text[] = "one\n\nthree and more\nfour";
  for (size_t cut = 0; cut < sizeof text; cut++) {
    struct rd_line_buffer buffer = {0};
    put(&buffer, text, cut);
    size_t first = rd_line_buffer_whole(&buffer, 0);
    CHECK(first <= cut && (first == 0 || text[first - 1] == '\n'));
    CHECK(memchr(text + first, '\n', cut - first) == NULL);
    rd_line_buffer_drop(&buffer, first);
    size_t kept = buffer.count;
    put(&buffer, text + cut, sizeof text - 1 - cut);
    size_t whole = rd_line_buffer_whole(&buffer, kept);
    CHECK(first + whole == 20);
    rd_line_buffer_drop(&buffer, whole);
    CHECK(buffer.count == 4 && memcmp(buffer.bytes, "four", 4) == 0);
    rd_line_buffer_clear(&buffer);
  }
}

static void test_bound(void) {
  struct rd_line_buffer buffer = {0};
  size_t room, filled = 0;
  while (rd_line_buffer_room(&buffer, &room) != NULL) {
    memset(buffer.bytes + buffer.count, 'x', room);
    buffer.count += room;
    filled += room;
  }
  CHECK(filled == RD_LINE_BUFFER_MAX_BYTES && rd_line_buffer_whole(&buffer, 0) == 0);
  rd_line_buffer_drop(&buffer, filled);
  CHECK(rd_line_buffer_room(&buffer, &room) != NULL && room == filled);
  rd_line_buffer_clear(&buffer);
}

int main(void) {
  test_cuts();
  test_bound();
  return test_end("rdhop line_buffer");
}
