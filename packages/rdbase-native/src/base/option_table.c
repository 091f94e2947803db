// SPDX-License-Identifier: Apache-2.0
#include "base/option_table.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 48
#define LONG_ONLY 256 // getopt_long() returns this for the first row's long option; letters are smaller
#define HELP_COLUMN 27

// The rows of all groups in one list, and the same as getopt_long() needs it.
struct flat {
  const struct rd_option_row *rows[ROWS_MAX];
  size_t count, first_other;
  struct option names[ROWS_MAX + 1];
  char letters[ROWS_MAX + 3];
};

static void flatten(const struct rd_option_table *table, struct flat *flat);
static void add_group(struct flat *flat, const struct rd_option_row *rows);
static bool take_option(const struct rd_option_table *table, const struct flat *flat, int option, char *const *argv,
                        void *options, struct rd_error *error);
static size_t index_of(const struct flat *flat, int option);
static bool take_value(const struct rd_option_row *row, const char *text, void *options);
static void write_row(FILE *out, const struct rd_option_row *row);

int rd_option_table_parse(const struct rd_option_table *table, int argc, char **argv, void *options,
                          struct rd_error *error) {
  struct flat flat;
  flatten(table, &flat);
  error->code = RD_CODE_OK;
  opterr = 0;
  optind = 0;
  for (int option; (option = getopt_long(argc, argv, flat.letters, flat.names, NULL)) != -1;) {
    struct rd_error mistake;
    if (take_option(table, &flat, option, argv, options, &mistake)) continue;
    if (error->code == RD_CODE_OK) *error = mistake;
  }
  return optind;
}

void rd_option_table_write_help(const struct rd_option_table *table, FILE *out) {
  for (const struct rd_option_row *row = table->own; row->name != NULL; row++) write_row(out, row);
  for (const struct rd_option_row *row = table->common; row != NULL && row->name != NULL; row++) write_row(out, row);
}

bool rd_option_number(const char *text, long least, long most, long *out) {
  char *end;
  errno = 0;
  *out = strtol(text, &end, 10);
  return end != text && *end == '\0' && errno == 0 && *out >= least && *out <= most;
}

int rd_option_word(const char *text, const char *const *words) {
  for (int i = 0; text != NULL && words[i] != NULL; i++)
    if (strcmp(text, words[i]) == 0) return i;
  return -1;
}

// '+' makes getopt_long() stop at the first operand; ':' makes it distinguish a missing value from an unknown option.
static void flatten(const struct rd_option_table *table, struct flat *flat) {
  *flat = (struct flat){.letters = "+:"};
  add_group(flat, table->own);
  add_group(flat, table->common);
  flat->first_other = flat->count;
  add_group(flat, table->others);
}

static void add_group(struct flat *flat, const struct rd_option_row *rows) {
  for (const struct rd_option_row *row = rows; row != NULL && row->name != NULL; row++) {
    if (flat->count == ROWS_MAX) abort(); // a table in this program is too long
    if (row->letter != 0) flat->letters[strlen(flat->letters)] = row->letter;
    flat->names[flat->count] = (struct option){.name = row->name,
                                               .has_arg = row->value != NULL ? required_argument : no_argument,
                                               .val = LONG_ONLY + (int)flat->count};
    flat->rows[flat->count++] = row;
  }
}

// `option` is the result of getopt_long(), which leaves the option's value in `optarg`.
static bool take_option(const struct rd_option_table *table, const struct flat *flat, int option, char *const *argv,
                        void *options, struct rd_error *error) {
  size_t index = index_of(flat, option);
  const struct rd_option_row *row = index < flat->count ? flat->rows[index] : NULL;
  if (row == NULL)
    rd_error_set(error, RD_CODE_USAGE, option == ':' ? "%s needs a value" : "unknown option %s", argv[optind - 1]);
  else if (index >= flat->first_other)
    rd_error_set(error, RD_CODE_USAGE, "--%s is an option of %s", row->name, table->others_program);
  else if (!take_value(row, row->value != NULL ? optarg : NULL, options))
    rd_error_set(error, RD_CODE_USAGE, "--%s must be %s, not %s", row->name, row->expected, optarg);
  else
    return true;
  return false;
}

// Returns the number of rows if none matches.
static size_t index_of(const struct flat *flat, int option) {
  if (option >= LONG_ONLY) return (size_t)(option - LONG_ONLY);
  for (size_t i = 0; i < flat->count; i++)
    if (flat->rows[i]->letter == option) return i;
  return flat->count;
}

static bool take_value(const struct rd_option_row *row, const char *text, void *options) {
  if (row->parse != NULL) return row->parse(options, text);
  char *member = (char *)options + row->member;
  if (text != NULL)
    memcpy(member, &text, sizeof text);
  else
    *(bool *)member = true;
  return true;
}

// Starts the lines of help at HELP_COLUMN.
static void write_row(FILE *out, const struct rd_option_row *row) {
  if (row->help == NULL) return;
  int column = row->letter != 0 ? fprintf(out, "  -%c, ", row->letter) : fprintf(out, "%6s", "");
  column += fprintf(out, "--%s %s", row->name, row->value != NULL ? row->value : "");
  for (const char *line = row->help; line != NULL; column = 0) {
    const char *end = strchrnul(line, '\n');
    fprintf(out, "%*s%.*s\n", HELP_COLUMN - column, "", (int)(end - line), line);
    line = *end != '\0' ? end + 1 : NULL;
  }
}
