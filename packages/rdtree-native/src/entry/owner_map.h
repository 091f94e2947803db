// SPDX-License-Identifier: Apache-2.0
// The source's users and groups as the target's host knows them by name.
#ifndef RD_TREE_OWNER_MAP_H
#define RD_TREE_OWNER_MAP_H

#include "stream/record.h"

struct rd_owner_map; // opaque

// Never NULL.
struct rd_owner_map *rd_owner_map_create(void);
void rd_owner_map_destroy(struct rd_owner_map *map); // NULL-safe

// Takes an OWNER record: its number is that of the name in /etc/passwd or /etc/group here, which are read by
// themselves: a static program has no other source of names. A name that is not there keeps the number.
void rd_owner_map_add(struct rd_owner_map *map, bool is_group, uint32_t id, struct rd_bytes name);

// The numbers here of the source's.
uint32_t rd_owner_map_user(const struct rd_owner_map *map, uint32_t uid);
uint32_t rd_owner_map_group(const struct rd_owner_map *map, uint32_t gid);

// Whether this process may give a file of its own to any user, or to this group (a number here).
bool rd_owner_map_sets_users(const struct rd_owner_map *map);
bool rd_owner_map_sets_group(const struct rd_owner_map *map, uint32_t gid);

#endif
