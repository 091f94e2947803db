// SPDX-License-Identifier: Apache-2.0
// Reads the subset of TOML that the file of clients needs: tables, and keys with strings.
#ifndef RD_SERVE_TABLE_FILE_H
#define RD_SERVE_TABLE_FILE_H

#include "base/error.h"

#include <stddef.h>

#define RD_TABLE_FILE_MAX_BYTES (256u << 10)
#define RD_TABLE_NAME_BYTES 65u
#define RD_TABLE_VALUE_BYTES 4097u

// One line of the file. `key` is "" at the beginning of a table.
struct rd_table_line {
  unsigned number;                                            // from 1
  char table[RD_TABLE_NAME_BYTES], name[RD_TABLE_NAME_BYTES]; // of [table.name]
  char key[RD_TABLE_NAME_BYTES];
  char value[RD_TABLE_VALUE_BYTES];
};

// Returns false with a reason; rd_table_file_read() puts the line's number before it.
typedef bool rd_table_function(void *context, const struct rd_table_line *line, struct rd_error *error);

// Calls `function` for every table and each of its keys, in order. Names are letters, digits, '-' and '_'; strings are
// in double quotes, without escapes or control characters; comments begin with '#'. Everything else is refused: returns
// false, RD_CODE_USAGE, `line 3: …`.
bool rd_table_file_read(const char *text, size_t bytes, rd_table_function *function, void *context,
                        struct rd_error *error);

#endif
