// SPDX-License-Identifier: Apache-2.0
#include "stage_limits.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 512u
#define UNLIMITED "unlimited"

static bool take(const char **text, rlim_t unit, rlim_t *limit);
static void set(int resource, rlim_t soft);

bool stage_limits_parse(const char *text, struct stage_limits *limits) {
  limits->given = take(&text, BLOCK_BYTES, &limits->core_bytes) && *text++ == ',' && take(&text, 1, &limits->files) &&
                  *text == '\0';
  return limits->given;
}

void stage_limits_set(const struct stage_limits *limits) {
  if (!limits->given) return;
  set(RLIMIT_CORE, limits->core_bytes);
  set(RLIMIT_NOFILE, limits->files);
}

// Moves *text behind it.
static bool take(const char **text, rlim_t unit, rlim_t *limit) {
  if (strncmp(*text, UNLIMITED, sizeof UNLIMITED - 1) == 0) {
    *text += sizeof UNLIMITED - 1;
    *limit = RLIM_INFINITY;
    return true;
  }
  char *end;
  errno = 0;
  unsigned long long number = strtoull(*text, &end, 10);
  if (!isdigit((unsigned char)**text) || errno != 0 || number >= RLIM_INFINITY / unit) return false;
  *text = end;
  *limit = number * unit;
  return true;
}

static void set(int resource, rlim_t soft) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = soft;
  setrlimit(resource, &limit);
}
