// SPDX-License-Identifier: Apache-2.0
#include "run/part_environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static void set_number(const char *name, unsigned number);

void rd_part_environment_set(const struct rd_stage_spec *stage) {
  static bool is_set;
  if (stage->part_host != NULL) {
    setenv("RDPIPE_HOST", stage->part_host, 1);
    set_number("RDPIPE_RANK", stage->part_rank);
    set_number("RDPIPE_WIDTH", stage->part_width);
    is_set = true;
  } else if (is_set) {
    unsetenv("RDPIPE_HOST");
    unsetenv("RDPIPE_RANK");
    unsetenv("RDPIPE_WIDTH");
  }
}

static void set_number(const char *name, unsigned number) {
  char text[16];
  snprintf(text, sizeof text, "%u", number);
  setenv(name, text, 1);
}
