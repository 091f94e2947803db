// SPDX-License-Identifier: Apache-2.0
#include "runtime/name_set.h"

#include <stdio.h>
#include <string.h>

void rd_name_set_add(struct rd_name_set *set, const char *name) {
  if (set->count == RD_NAME_SET_MAX) return;
  char *place = set->names[set->count];
  snprintf(place, RD_NAME_SET_NAME_BYTES, "%s", name);
  for (size_t i = 0; i < set->count; i++)
    if (strcmp(set->names[i], place) == 0) return;
  set->count++;
}
