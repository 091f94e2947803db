// SPDX-License-Identifier: Apache-2.0
// Sets of names: 300,000 names are found, and no others.
#include "compare/name_set.h"

#include "test.h"

#include <string.h>

static struct rd_bytes numbered(char text[32], unsigned number) {
  snprintf(text, 32, "name-%u", number);
  return rd_bytes_of(text);
}

int main(void) {
  enum { COUNT = 300000 };
  char text[32];
  struct rd_name_set *set = rd_name_set_create();
  CHECK(!rd_name_set_has(set, rd_bytes_of("x")) && !rd_name_set_is_full(set, 1));
  for (unsigned i = 0; i < COUNT; i++) rd_name_set_add(set, numbered(text, i));
  rd_name_set_add(set, numbered(text, 7));
  CHECK(rd_name_set_is_full(set, COUNT) && !rd_name_set_is_full(set, COUNT + 1));
  unsigned found = 0, wrong = 0;
  for (unsigned i = 0; i < COUNT; i++) found += rd_name_set_has(set, numbered(text, i));
  for (unsigned i = COUNT; i < 2 * COUNT; i++) wrong += rd_name_set_has(set, numbered(text, i));
  CHECK(found == COUNT && wrong == 0);
  CHECK(!rd_name_set_has(set, (struct rd_bytes){(const unsigned char *)"", 0}));
  rd_name_set_destroy(set);
  rd_name_set_destroy(NULL);
  return test_end("name_set");
}
