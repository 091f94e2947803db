// SPDX-License-Identifier: Apache-2.0
// A few names, each once, in the order in which they were added.
#ifndef RD_STAGE_NAME_SET_H
#define RD_STAGE_NAME_SET_H

#include <stddef.h>

#define RD_NAME_SET_MAX 16u
#define RD_NAME_SET_NAME_BYTES 32u

struct rd_name_set {
  char names[RD_NAME_SET_MAX][RD_NAME_SET_NAME_BYTES];
  size_t count;
};

// Cuts what is too long; adds nothing to a full set.
void rd_name_set_add(struct rd_name_set *set, const char *name);

#endif
