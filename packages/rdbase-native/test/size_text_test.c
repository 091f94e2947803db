// SPDX-License-Identifier: Apache-2.0
// Sizes and rates as text, each in its own units.
#include "base/size_text.h"

#include "test.h"

#include <string.h>

static void rate(double bytes_per_s, const char *words) {
  char out[RD_SIZE_TEXT_BYTES];
  rd_rate_text(bytes_per_s, out, sizeof out);
  if (!CHECK(strcmp(out, words) == 0)) fprintf(stderr, "  %s, not %s\n", out, words);
}

static void size(double bytes, const char *words) {
  char out[RD_SIZE_TEXT_BYTES];
  rd_size_text(bytes, out, sizeof out);
  if (!CHECK(strcmp(out, words) == 0)) fprintf(stderr, "  %s, not %s\n", out, words);
}

int main(void) {
  rate(0, "0 B/s");
  rate(1023.4, "1023 B/s");
  rate(1023.6, "1.000 KiB/s");
  rate(200e6, "190.7 MiB/s");
  rate(1024 * 1024 * 99.996, "100.0 MiB/s");
  rate(1024 * 1024 * 1023.96, "1.000 GiB/s");
  rate(2872e6, "2.675 GiB/s");
  rate(5000 * 1099511627776., "5000.0 TiB/s");
  size(1023, "1023 B");
  size(200e6, "190.7 MiB");
  size(5.5 * 1024 * 1024, "5.5 MiB");
  return test_end("size_words");
}
