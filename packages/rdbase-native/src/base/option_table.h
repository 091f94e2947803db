// SPDX-License-Identifier: Apache-2.0
// A program's options as a table of rows, used to parse argv and to print --help.
#ifndef RD_BASE_OPTION_TABLE_H
#define RD_BASE_OPTION_TABLE_H

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>

// A group of rows ends with a row whose name is NULL.
struct rd_option_row {
  char letter; // 0: long name only
  const char *name;
  const char *value;                              // the value's name in --help; NULL: takes no value
  bool (*parse)(void *options, const char *text); // `text` is NULL if it takes no value; NULL: see `member`
  const char *expected;                           // for the message about an invalid value
  size_t member;    // without `parse`: offset in the options of a bool or, for a value, of a `const char *` into argv
  const char *help; // may have several lines; NULL: --help does not show it
};

struct rd_option_table {
  const struct rd_option_row *own, *common; // in the order of --help; `common` may be NULL
  const struct rd_option_row *others;       // of another program, only for the error message; may be NULL
  const char *others_program;
};

// Different versions of clang-format lay out this part differently.
// clang-format off
#define RD_OPTION_FLAG(letter, name, type, member, help) \
  { letter, name, NULL, NULL, NULL, offsetof(type, member), help }
#define RD_OPTION_TEXT(name, value, type, member, help) \
  { 0, name, value, NULL, NULL, offsetof(type, member), help }
#define RD_OPTION_VALUE(name, value, parse, expected, help) \
  { 0, name, value, parse, expected, 0, help }
// clang-format on

// Parses the options before the first operand and returns that operand's index. The first mistake sets *error
// (RD_CODE_USAGE), and the remaining options are parsed anyway; without a mistake error->code is RD_CODE_OK.
int rd_option_table_parse(const struct rd_option_table *table, int argc, char **argv, void *options,
                          struct rd_error *error);
// Prints the rows with a help text, `own` before `common`.
void rd_option_table_write_help(const struct rd_option_table *table, FILE *out);

// Parses a decimal integer from `least` to `most`. Returns false for any other text.
bool rd_option_number(const char *text, long least, long most, long *out);
// Returns the index of `text` in `words`, a list that ends with NULL; -1 if it is not there, or NULL.
int rd_option_word(const char *text, const char *const *words);

#endif
