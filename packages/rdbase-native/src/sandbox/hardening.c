// SPDX-License-Identifier: Apache-2.0
#include "sandbox/hardening.h"

#include <jansson.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

static void wipe_and_free(void *memory);

void rd_harden_process(void) {
  prctl(PR_SET_DUMPABLE, 0);
  json_set_alloc_funcs(malloc, wipe_and_free);
}

static void wipe_and_free(void *memory) {
  if (memory) explicit_bzero(memory, malloc_usable_size(memory));
  free(memory);
}
