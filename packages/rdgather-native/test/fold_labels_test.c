// SPDX-License-Identifier: Apache-2.0
// Tests of lists of hosts: they name the same hosts, in fewer words.
#include "gather/fold_labels.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

// Folds the names in `text`, which are separated by blanks.
static bool folds(const char *text, const char *expected) {
  char copy[256], *rest = copy, *words[16];
  size_t count = 0;
  snprintf(copy, sizeof copy, "%s", text);
  for (char *word; (word = strsep(&rest, " ")) != NULL;) words[count++] = word;
  char *list = rd_fold_labels((const char *const *)words, count);
  bool is_right = strcmp(list, expected) == 0;
  if (!is_right) printf("# %s: %s\n", text, list);
  free(list);
  return is_right;
}

static void test_numbers(void) {
  CHECK(folds("n1", "n1") && folds("n1 n2", "n[1-2]") && folds("n3 n1 n2 n7", "n[1-3,7]"));
  CHECK(folds("r1n1 r1n2 r2n1", "r1n[1-2],r2n1"));
  CHECK(folds("n1.lab n2.lab", "n[1-2].lab") && folds("10.0.0.9 10.0.0.10", "10.0.0.[9-10]"));
  CHECK(folds("ann@n1 ann@n2 bob@n3", "ann@n[1-2],bob@n3"));
}

static void test_widths(void) {
  CHECK(folds("n08 n09 n10", "n[08-10]") && folds("n8 n9 n10", "n[8-10]"));
  CHECK(folds("n1 n01", "n1,n01") && folds("n09 n10 n100 n9", "n[09-10],n[9,100]"));
  CHECK(folds("n0 n1", "n[0-1]"));
}

static void test_left_alone(void) {
  CHECK(folds("a b", "a,b") && folds("this machine", "this,machine"));
  CHECK(folds("[2001:db8::1] [2001:db8::2]", "[2001:db8::1],[2001:db8::2]"));
  CHECK(folds("n1234567890 n1234567891", "n1234567890,n1234567891"));
}

int main(void) {
  test_numbers();
  test_widths();
  test_left_alone();
  return test_end("fold_labels");
}
