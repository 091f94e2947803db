// SPDX-License-Identifier: Apache-2.0
// A set of names, by 128-bit digests of them: 16 bytes a name, however long it is.
#ifndef RD_TREE_NAME_SET_H
#define RD_TREE_NAME_SET_H

#include "stream/record.h"

struct rd_name_set; // opaque

// Never NULL.
struct rd_name_set *rd_name_set_create(void);
void rd_name_set_destroy(struct rd_name_set *set); // NULL-safe

void rd_name_set_add(struct rd_name_set *set, struct rd_bytes name);
bool rd_name_set_has(const struct rd_name_set *set, struct rd_bytes name);
bool rd_name_set_is_full(const struct rd_name_set *set, size_t most);

#endif
