// SPDX-License-Identifier: Apache-2.0
// A program's options as rows: the words of argv are parsed by them, and --help is written from them.
#ifndef RD_BASE_OPTION_TABLE_H
#define RD_BASE_OPTION_TABLE_H

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>

// A group of rows ends with one without a name.
struct rd_option_row {
  char letter; // 0: it has only its name
  const char *name;
  const char *value;                              // as --help names it; NULL: it takes none
  bool (*parse)(void *options, const char *text); // `text` NULL: it takes no value; NULL: see `member`
  const char *expected;                           // for the message about another value
  size_t member;    // without `parse`: where in the options it is, a bool, or of a value a `const char *` into argv
  const char *help; // its lines; NULL: --help does not show it
};

struct rd_option_table {
  const struct rd_option_row *own, *common; // in the order of --help; `common` may be NULL
  const struct rd_option_row *others;       // of another program, for the message alone; may be NULL
  const char *others_program;
};

// Versions of clang-format differ here.
// clang-format off
#define RD_OPTION_FLAG(letter, name, type, member, help) \
  { letter, name, NULL, NULL, NULL, offsetof(type, member), help }
#define RD_OPTION_TEXT(name, value, type, member, help) \
  { 0, name, value, NULL, NULL, offsetof(type, member), help }
#define RD_OPTION_VALUE(name, value, parse, expected, help) \
  { 0, name, value, parse, expected, 0, help }
// clang-format on

// Takes the options before the first operand, whose index is returned. A mistake sets *error, that of the first one
// (RD_CODE_USAGE), and the rest is taken all the same; else its code is RD_CODE_OK.
int rd_option_table_parse(const struct rd_option_table *table, int argc, char **argv, void *options,
                          struct rd_error *error);
void rd_option_table_write_help(const struct rd_option_table *table, FILE *out);

// A whole number in decimal digits, and nothing else.
bool rd_option_number(const char *text, long least, long most, long *out);

#endif
