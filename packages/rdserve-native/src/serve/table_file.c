// SPDX-License-Identifier: Apache-2.0
#include "serve/table_file.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

// The unparsed part of a line.
struct rest {
  const char *at, *end;
};

static const char *parse(struct rest *rest, struct rd_table_line *line, bool *is_empty);
static const char *parse_table(struct rest *rest, struct rd_table_line *line);
static const char *parse_key(struct rest *rest, struct rd_table_line *line);
static const char *parse_end(struct rest *rest);
static bool take_name(struct rest *rest, char name[RD_TABLE_NAME_BYTES]);
static const char *take_string(struct rest *rest, char value[RD_TABLE_VALUE_BYTES]);
static bool take(struct rest *rest, char character);
static void skip_blanks(struct rest *rest);
static bool is_name_character(char character);
static bool is_control(char character);

bool rd_table_file_read(const char *text, size_t bytes, rd_table_function *function, void *context,
                        struct rd_error *error) {
  RD_AUTO_FREE struct rd_table_line *line = rd_memory_new(1, sizeof *line);
  const char *end = text + bytes;
  for (const char *at = text; at < end;) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    struct rest rest = {.at = at, .end = newline != NULL ? newline : end};
    if (rest.end > at && rest.end[-1] == '\r') rest.end--;
    line->number++;
    struct rd_error reason;
    bool is_empty = false;
    const char *mistake = parse(&rest, line, &is_empty);
    bool taken = mistake == NULL && (is_empty || function(context, line, &reason));
    explicit_bzero(line->value, sizeof line->value); // the value may be a key
    if (!taken) {
      rd_error_set(error, RD_CODE_USAGE, "line %u: %s", line->number, mistake != NULL ? mistake : reason.message);
      return false;
    }
    at = newline != NULL ? newline + 1 : end;
  }
  return true;
}

// Returns the mistake, or NULL.
static const char *parse(struct rest *rest, struct rd_table_line *line, bool *is_empty) {
  line->key[0] = '\0';
  skip_blanks(rest);
  *is_empty = rest->at == rest->end || *rest->at == '#';
  if (*is_empty) return parse_end(rest);
  const char *mistake = take(rest, '[') ? parse_table(rest, line) : parse_key(rest, line);
  return mistake != NULL ? mistake : parse_end(rest);
}

static const char *parse_table(struct rest *rest, struct rd_table_line *line) {
  static const char mistake[] = "a table is [client.NAME], NAME of at most 64 letters, digits, - and _";
  if (!take_name(rest, line->table) || !take(rest, '.') || !take_name(rest, line->name)) return mistake;
  return take(rest, ']') ? NULL : mistake;
}

static const char *parse_key(struct rest *rest, struct rd_table_line *line) {
  if (!take_name(rest, line->key)) return "neither a table in brackets, a key nor a comment";
  if (line->table[0] == '\0') return "a key before the first table";
  skip_blanks(rest);
  if (!take(rest, '=')) return "no = after the key";
  skip_blanks(rest);
  return take_string(rest, line->value);
}

static const char *parse_end(struct rest *rest) {
  skip_blanks(rest);
  if (rest->at == rest->end) return NULL;
  if (*rest->at != '#') return "only a comment may follow the value";
  for (const char *at = rest->at; at < rest->end; at++)
    if (is_control(*at)) return "a control character";
  return NULL;
}

static bool take_name(struct rest *rest, char name[RD_TABLE_NAME_BYTES]) {
  size_t length = 0;
  while (rest->at < rest->end && is_name_character(*rest->at)) {
    if (length == RD_TABLE_NAME_BYTES - 1) return false;
    name[length++] = *rest->at++;
  }
  name[length] = '\0';
  return length > 0;
}

static const char *take_string(struct rest *rest, char value[RD_TABLE_VALUE_BYTES]) {
  size_t length = 0;
  if (!take(rest, '"')) return "a value is a string in double quotes";
  while (rest->at < rest->end && *rest->at != '"') {
    if (*rest->at == '\\') return "escapes are not allowed in a string";
    if (is_control(*rest->at)) return "a control character";
    if (length == RD_TABLE_VALUE_BYTES - 1) return "a string is too long";
    value[length++] = *rest->at++;
  }
  value[length] = '\0';
  return take(rest, '"') ? NULL : "a string lacks its closing quote";
}

static bool take(struct rest *rest, char character) {
  if (rest->at == rest->end || *rest->at != character) return false;
  rest->at++;
  return true;
}

static void skip_blanks(struct rest *rest) {
  while (rest->at < rest->end && (*rest->at == ' ' || *rest->at == '\t')) rest->at++;
}

static bool is_name_character(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '-' || character == '_';
}

static bool is_control(char character) {
  unsigned char byte = (unsigned char)character;
  return (byte < ' ' && byte != '\t') || byte == 0x7f;
}
