// SPDX-License-Identifier: Apache-2.0
// Maps the source's users and groups, by name, to the numbers that they have on this host.
#ifndef RD_TREE_OWNER_MAP_H
#define RD_TREE_OWNER_MAP_H

#include "stream/record.h"

struct rd_owner_map; // opaque

// Never returns NULL.
struct rd_owner_map *rd_owner_map_create(void);
void rd_owner_map_destroy(struct rd_owner_map *map); // NULL-safe

// Takes an OWNER record: maps `id` to the number that `name` has in this host's /etc/passwd or /etc/group, which are
// parsed here: a static program has no other source of names. If the name is missing there, the number stays as it is.
void rd_owner_map_add(struct rd_owner_map *map, bool is_group, uint32_t id, struct rd_bytes name);

// Return this host's number for a number of the source.
uint32_t rd_owner_map_user(const struct rd_owner_map *map, uint32_t uid);
uint32_t rd_owner_map_group(const struct rd_owner_map *map, uint32_t gid);

// Return true if this process may give its files to any user, or to this group (a number of this host).
bool rd_owner_map_sets_users(const struct rd_owner_map *map);
bool rd_owner_map_sets_group(const struct rd_owner_map *map, uint32_t gid);

#endif
