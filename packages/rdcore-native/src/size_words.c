// SPDX-License-Identifier: Apache-2.0
#include "size_words.h"

#include <stdio.h>

void rd_size_words(double bytes, char *out, size_t out_bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  unsigned unit = 0;
  while (bytes >= 1024 && unit + 1 < sizeof units / sizeof units[0]) bytes /= 1024, unit++;
  snprintf(out, out_bytes, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
}
