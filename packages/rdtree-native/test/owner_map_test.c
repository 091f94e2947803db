// SPDX-License-Identifier: Apache-2.0
// Owners by name: the source's numbers are replaced by those of this host.
#include "entry/owner_map.h"

#include "test.h"

#include <unistd.h>

static void maps_names(void) {
  struct rd_owner_map *map = rd_owner_map_create();
  CHECK(rd_owner_map_user(map, 4000) == 4000 && rd_owner_map_group(map, 4000) == 4000);
  rd_owner_map_add(map, false, 4001, rd_bytes_of("root"));
  rd_owner_map_add(map, false, 4000, rd_bytes_of("root"));
  rd_owner_map_add(map, false, 3999, rd_bytes_of("no-such-user-here"));
  rd_owner_map_add(map, true, 77, rd_bytes_of("root"));
  CHECK(rd_owner_map_user(map, 4000) == 0 && rd_owner_map_user(map, 4001) == 0);
  CHECK(rd_owner_map_user(map, 3999) == 3999 && rd_owner_map_group(map, 4000) == 4000);
  CHECK(rd_owner_map_group(map, 77) == 0);
  rd_owner_map_destroy(map);
  rd_owner_map_destroy(NULL);
}

static void sets_only_its_own(void) {
  struct rd_owner_map *map = rd_owner_map_create();
  CHECK(rd_owner_map_sets_group(map, getegid()));
  if (geteuid() == 0) CHECK(rd_owner_map_sets_users(map) && rd_owner_map_sets_group(map, 4321));
  if (geteuid() != 0) CHECK(!rd_owner_map_sets_users(map) && !rd_owner_map_sets_group(map, 432154321));
  rd_owner_map_destroy(map);
}

int main(void) {
  maps_names();
  sets_only_its_own();
  return test_end("owner_map");
}
