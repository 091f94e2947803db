// SPDX-License-Identifier: Apache-2.0
// Tests of the work for the end of a copy: strings come back whole, and take little of the disk if they begin alike.
#include "target/deferred.h"

#include "base/memory.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT 300u
#define NAME_BYTES 250u

static struct rd_error error;

static void test_strings(void) {
  static const char *const strings[] = {"", "a", "a", "ab", "a", "", "b/c", "b\0c", "b/c/d", "xyz"};
  static const size_t counts[] = {0, 1, 1, 2, 1, 0, 3, 3, 5, 3};
  struct rd_deferred *list = rd_deferred_create();
  const unsigned char *bytes;
  size_t count;
  CHECK(rd_deferred_rewind(list, &error) && !rd_deferred_next(list, &bytes, &count, &error) &&
        error.code == RD_CODE_OK);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    REQUIRE(rd_deferred_add(list, strings[i], counts[i], &error));
  for (int pass = 0; pass < 2; pass++) {
    REQUIRE(rd_deferred_rewind(list, &error));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
      REQUIRE(rd_deferred_next(list, &bytes, &count, &error));
      CHECK(count == counts[i] && memcmp(bytes, strings[i], count) == 0 && bytes[count] == '\0');
    }
    CHECK(!rd_deferred_next(list, &bytes, &count, &error) && error.code == RD_CODE_OK);
  }
  rd_deferred_destroy(list);
  rd_deferred_destroy(NULL);
}

// The paths of a chain of directories, from the deepest up.
static void test_deep_paths(void) {
  struct rd_deferred *list = rd_deferred_create();
  char *path = rd_memory_new(COUNT * NAME_BYTES, 1);
  memset(path, 'n', COUNT * NAME_BYTES);
  int fd = dup(STDOUT_FILENO); // the number that the file will get
  close(fd);
  for (size_t level = COUNT; level > 0; level--) REQUIRE(rd_deferred_add(list, path, level * NAME_BYTES, &error));
  REQUIRE(rd_deferred_rewind(list, &error));
  struct stat now;
  REQUIRE(fstat(fd, &now) == 0);
  CHECK(now.st_size > (off_t)(COUNT * NAME_BYTES) && now.st_size < (off_t)(2 * COUNT * NAME_BYTES));
  for (size_t level = COUNT; level > 0; level--) {
    const unsigned char *bytes;
    size_t count;
    CHECK(rd_deferred_next(list, &bytes, &count, &error) && count == level * NAME_BYTES &&
          memcmp(bytes, path, count) == 0);
  }
  rd_deferred_destroy(list);
  free(path);
}

int main(void) {
  test_strings();
  test_deep_paths();
  return test_end("deferred");
}
