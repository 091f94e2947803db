// SPDX-License-Identifier: Apache-2.0
// Tests of the reader of the file of clients: everything but the known syntax is refused with its line.
#include "serve/table_file.h"

#include "test.h"

#include <string.h>

static struct rd_error error;
static char seen[1024];

static bool note(void *context, const struct rd_table_line *line, struct rd_error *why) {
  (void)context;
  char text[512];
  snprintf(text, sizeof text, "%u:%s.%s:%s=%.200s|", line->number, line->table, line->name, line->key, line->value);
  strncat(seen, text, sizeof seen - strlen(seen) - 1);
  if (strcmp(line->key, "refused") != 0) return true;
  rd_error_set(why, RD_CODE_USAGE, "a reason");
  return false;
}

static bool reads(const char *text) {
  seen[0] = '\0';
  return rd_table_file_read(text, strlen(text), note, NULL, &error);
}

static bool refuses(const char *text, const char *words) {
  return !reads(text) && error.code == RD_CODE_USAGE && strstr(error.message, words) != NULL;
}

static void test_good_files(void) {
  CHECK(reads("") && seen[0] == '\0');
  CHECK(reads("\n# a comment\r\n \t\n") && seen[0] == '\0');
  CHECK(reads("[client.alice] # who\n key = \"a # b\"\t# why\n[client.b_-9]\r\nx=\"\"") &&
        strcmp(seen, "1:client.alice:=|2:client.alice:key=a # b|3:client.b_-9:=|4:client.b_-9:x=|") == 0);
  CHECK(reads("[client.a]\nk = \"gr\xc3\xbc\xc3\x9f\"\n"));
}

static void test_mistakes(void) {
  static const char *const cases[][2] = {
      {"key = \"x\"", "line 1: a key before"},
      {"\n[client]\n", "line 2: a table is"},
      {"[client.]", "a table is"},
      {"[client.a", "a table is"},
      {"[client.a.b]", "a table is"},
      {"[[client.a]]", "a table is"},
      {"[client.\"a\"]", "a table is"},
      {"[client.a] x", "only a comment"},
      {"[client.a]\nk", "line 2: no ="},
      {"[client.a]\nk.j = \"x\"", "no ="},
      {"[client.a]\n\"k\" = \"x\"", "neither a table"},
      {"[client.a]\nk = ", "double quotes"},
      {"[client.a]\nk = 5", "double quotes"},
      {"[client.a]\nk = 'x'", "double quotes"},
      {"[client.a]\nk = [\"x\"]", "double quotes"},
      {"[client.a]\nk = \"x", "closing quote"},
      {"[client.a]\nk = \"x\\n\"", "escapes are not allowed"},
      {"[client.a]\nk = \"\"\"x\"\"\"", "only a comment"},
      {"[client.a]\nk = \"x\" \"y\"", "only a comment"},
      {"[client.a]\nk = \"x\x01\"", "control character"},
      {"[client.a]\n# \x7f", "control character"},
      {"\xef\xbb\xbf[client.a]", "line 1: neither"},
      {"[client.a]\nrefused = \"\"", "line 2: a reason"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) CHECK(refuses(cases[i][0], cases[i][1]));
  CHECK(!rd_table_file_read("[client.a]\nk = \"x\0y\"", 20, note, NULL, &error));
}

static void test_limits(void) {
  char text[2 * RD_TABLE_VALUE_BYTES];
  char name[RD_TABLE_NAME_BYTES + 1];
  memset(name, 'n', sizeof name);
  snprintf(text, sizeof text, "[client.%.64s]", name);
  CHECK(reads(text));
  snprintf(text, sizeof text, "[client.%.65s]", name);
  CHECK(refuses(text, "a table is"));
  int head = snprintf(text, sizeof text, "[client.a]\nk = \"");
  memset(text + head, 'v', RD_TABLE_VALUE_BYTES);
  snprintf(text + head + RD_TABLE_VALUE_BYTES - 1, 3, "\"\n");
  CHECK(reads(text));
  memset(text + head, 'v', RD_TABLE_VALUE_BYTES);
  snprintf(text + head + RD_TABLE_VALUE_BYTES, 3, "\"\n");
  CHECK(refuses(text, "too long"));
}

int main(void) {
  test_good_files();
  test_mistakes();
  test_limits();
  return test_end("table_file");
}
