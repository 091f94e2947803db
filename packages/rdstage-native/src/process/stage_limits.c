// SPDX-License-Identifier: Apache-2.0
#include "process/stage_limits.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 512u
#define UNLIMITED "unlimited"

static bool take(const char **text, rlim_t unit, rlim_t *limit);

bool rd_stage_limits_parse(const char *text, struct rd_stage_limits *limits) {
  limits->given = take(&text, BLOCK_BYTES, &limits->core_bytes) && *text++ == ',' && take(&text, 1, &limits->files) &&
                  *text == '\0';
  return limits->given;
}

void rd_stage_limits_keep(struct rd_stage_limits *limits) {
  struct rlimit cores, files;
  if (limits->given || getrlimit(RLIMIT_CORE, &cores) != 0 || getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  *limits = (struct rd_stage_limits){.given = true, .core_bytes = cores.rlim_cur, .files = files.rlim_cur};
}

void rd_stage_limits_set(const void *context) {
  const struct rd_stage_limits *limits = context;
  struct rlimit cores, files;
  if (!limits->given || getrlimit(RLIMIT_CORE, &cores) != 0 || getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  cores.rlim_cur = limits->core_bytes;
  files.rlim_cur = limits->files;
  setrlimit(RLIMIT_CORE, &cores);
  setrlimit(RLIMIT_NOFILE, &files);
}

// Advances *text past the number.
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
