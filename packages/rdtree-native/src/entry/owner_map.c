// SPDX-License-Identifier: Apache-2.0
#include "entry/owner_map.h"

#include "base/memory.h"
#include "entry/owner_files.h"
#include "entry/root.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct number {
  uint32_t theirs, ours;
};

// Sorted by the source's number; only numbers that differ on this host.
struct numbers {
  struct number *at;
  size_t count, room;
};

// A search for a name on this host.
struct search {
  const char *name;
  bool is_found;
  uint32_t id;
};

struct rd_owner_map {
  struct numbers users, groups;
  bool is_root;
  gid_t *own_groups;
  size_t own_group_count;
};

static void read_own_groups(struct rd_owner_map *map);
static bool take_id(void *context, uint32_t id, const char *name);
static size_t place_of(const struct numbers *numbers, uint32_t theirs);
static void insert(struct numbers *numbers, size_t place, struct number number);
static uint32_t number_here(const struct numbers *numbers, uint32_t theirs);

struct rd_owner_map *rd_owner_map_create(void) {
  struct rd_owner_map *map = rd_memory_new(1, sizeof *map);
  map->is_root = geteuid() == 0 && !rd_root_is_set();
  read_own_groups(map);
  return map;
}

void rd_owner_map_destroy(struct rd_owner_map *map) {
  if (map == NULL) return;
  free(map->users.at);
  free(map->groups.at);
  free(map->own_groups);
  free(map);
}

void rd_owner_map_add(struct rd_owner_map *map, bool is_group, uint32_t id, struct rd_bytes name) {
  struct numbers *numbers = is_group ? &map->groups : &map->users;
  char text[RD_NAME_MAX_BYTES + 1];
  struct search search = {.name = text};
  if (name.count >= sizeof text) return;
  memcpy(text, name.at, name.count);
  text[name.count] = '\0';
  rd_owner_files_read(is_group, take_id, &search);
  if (!search.is_found || search.id == id) return;
  struct number number = {.theirs = id, .ours = search.id};
  size_t place = place_of(numbers, id);
  if (place < numbers->count && numbers->at[place].theirs == id)
    numbers->at[place] = number;
  else
    insert(numbers, place, number);
}

uint32_t rd_owner_map_user(const struct rd_owner_map *map, uint32_t uid) {
  return number_here(&map->users, uid);
}

uint32_t rd_owner_map_group(const struct rd_owner_map *map, uint32_t gid) {
  return number_here(&map->groups, gid);
}

bool rd_owner_map_sets_users(const struct rd_owner_map *map) {
  return map->is_root;
}

bool rd_owner_map_sets_group(const struct rd_owner_map *map, uint32_t gid) {
  if (map->is_root || rd_root_is_set()) return map->is_root; // files in a served directory keep their groups
  for (size_t i = 0; i < map->own_group_count; i++)
    if (map->own_groups[i] == gid) return true;
  return false;
}

static void read_own_groups(struct rd_owner_map *map) {
  int count = getgroups(0, NULL);
  map->own_groups = rd_memory_new((size_t)(count < 0 ? 0 : count) + 1, sizeof *map->own_groups);
  if (count > 0) count = getgroups(count, map->own_groups);
  map->own_group_count = count < 0 ? 0 : (size_t)count;
  map->own_groups[map->own_group_count++] = getegid();
}

static bool take_id(void *context, uint32_t id, const char *name) {
  struct search *search = context;
  search->is_found = strcmp(name, search->name) == 0;
  if (search->is_found) search->id = id;
  return !search->is_found;
}

// Returns the index of `theirs`, or the index at which to insert it.
static size_t place_of(const struct numbers *numbers, uint32_t theirs) {
  size_t from = 0, to = numbers->count;
  while (from < to) {
    size_t middle = from + (to - from) / 2;
    if (numbers->at[middle].theirs < theirs)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

static void insert(struct numbers *numbers, size_t place, struct number number) {
  if (numbers->count == numbers->room) {
    numbers->room = 2 * numbers->room + 16;
    numbers->at = rd_memory_resize(numbers->at, numbers->room, sizeof *numbers->at);
  }
  memmove(numbers->at + place + 1, numbers->at + place, (numbers->count - place) * sizeof *numbers->at);
  numbers->at[place] = number;
  numbers->count++;
}

static uint32_t number_here(const struct numbers *numbers, uint32_t theirs) {
  size_t place = place_of(numbers, theirs);
  bool is_there = place < numbers->count && numbers->at[place].theirs == theirs;
  return is_there ? numbers->at[place].ours : theirs;
}
