// SPDX-License-Identifier: Apache-2.0
// A few names, each once, in the order in which they were added.
#ifndef RD_STAGE_NAME_SET_H
#define RD_STAGE_NAME_SET_H

#include <stddef.h>

#define NAME_SET_MAX 16u
#define NAME_SET_NAME_BYTES 32u

struct name_set {
  char names[NAME_SET_MAX][NAME_SET_NAME_BYTES];
  size_t count;
};

// Cuts what is too long; adds nothing to a full set.
void name_set_add(struct name_set *set, const char *name);

#endif
