// SPDX-License-Identifier: Apache-2.0
#include "base/size_text.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_BYTES_MAX 1e18

static bool read_units(const char *text, bool is_rate, double *bytes);
static const char *skip_number(const char *text);

void rd_size_text(double bytes, char *out, size_t out_bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  unsigned unit = 0;
  while (bytes >= 1024 && unit < 5) bytes /= 1024, unit++;
  snprintf(out, out_bytes, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}

// Prints four digits, except for whole bytes.
void rd_rate_text(double bytes_per_s, char *out, size_t out_bytes) {
  static const char *const units[] = {"KiB/s", "MiB/s", "GiB/s", "TiB/s"};
  unsigned unit = 0;
  if (bytes_per_s < 1023.5) {
    snprintf(out, out_bytes, "%.0f B/s", bytes_per_s);
    return;
  }
  double value = bytes_per_s / 1024;
  while (value >= 1023.95 && unit + 1 < sizeof units / sizeof units[0]) value /= 1024, unit++;
  snprintf(out, out_bytes, "%.*f %s", value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3, value, units[unit]);
}

bool rd_read_size(const char *text, double *bytes) {
  return read_units(text, false, bytes);
}

bool rd_read_rate(const char *text, double *bytes_per_s) {
  return read_units(text, true, bytes_per_s);
}

// Accepts the same texts as packages/rdpipe/src/parse/values.ts.
static bool read_units(const char *text, bool is_rate, double *bytes) {
  static const char letters[] = "KMGTP";
  const char *at = skip_number(text);
  if (at == text) return false;
  double value = strtod(text, NULL);
  if (at[0] == ' ' && at[1] != '\0') at++;
  const char *letter = *at == '\0' ? NULL : strchr(letters, toupper((unsigned char)*at));
  if (letter != NULL) {
    double base = at[1] == 'i' ? 1024 : 1000;
    for (const char *power = letters; power <= letter; power++) value *= base;
    at += at[1] == 'i' ? 2 : 1;
  }
  if (is_rate && strncmp(at, "bit", 3) == 0) {
    value /= 8;
    at += 3;
  } else if (*at == 'B') {
    at++;
  }
  if (is_rate && strcmp(at, "/s") == 0) at += 2;
  *bytes = value < WHOLE_BYTES_MAX ? (double)(int64_t)(value + 0.5) : value;
  return *at == '\0';
}

// Skips an integer or a decimal fraction. Returns `text` if it does not begin with a number.
static const char *skip_number(const char *text) {
  static const char digits[] = "0123456789";
  size_t whole = strspn(text, digits);
  if (whole == 0 || text[whole] != '.') return text + whole;
  size_t decimals = strspn(text + whole + 1, digits);
  return decimals == 0 ? text : text + whole + 1 + decimals;
}
