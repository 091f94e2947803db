// SPDX-License-Identifier: Apache-2.0
// Names of partial files: always the same for one name, and distinct from all other names.
#include "entry/partial_name.h"

#include "test.h"

#include <string.h>

static void is_by_digest(void) {
  char name[RD_PARTIAL_NAME_BYTES];
  rd_partial_name(rd_bytes_of("abc"), name);
  CHECK(strcmp(name, ".rdcp-06b05ab6733a618578af5f94892f3950") == 0);
  rd_partial_name((struct rd_bytes){(const unsigned char *)"\xff\n", 2}, name);
  CHECK(strlen(name) == RD_PARTIAL_NAME_BYTES - 1 && rd_name_is_valid(rd_bytes_of(name)));
  CHECK(rd_name_is_partial(rd_bytes_of(name)));
}

static void others_are_none(void) {
  static const char *const names[] = {
      "",
      ".rdcp",
      ".rdcp-",
      ".rdcp-06b05ab6733a618578af5f94892f395",
      ".rdcp-06b05ab6733a618578af5f94892f39500",
      ".rdcp-06b05ab6733a618578af5f94892f395g",
      ".rdcp-06B05AB6733A618578AF5F94892F3950",
      "xrdcp-06b05ab6733a618578af5f94892f3950",
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) CHECK(!rd_name_is_partial(rd_bytes_of(names[i])));
}

int main(void) {
  is_by_digest();
  others_are_none();
  return test_end("partial_name");
}
