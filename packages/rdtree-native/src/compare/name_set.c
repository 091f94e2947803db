// SPDX-License-Identifier: Apache-2.0
#include "compare/name_set.h"

#include "base/digest.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

// Open addressing: a slot of zeros is free. The digest of no name is that in practice.
struct slot {
  uint64_t words[2];
};

struct rd_name_set {
  struct slot *slots;
  size_t count, room; // room: a power of two
};

static struct slot digest_of(struct rd_bytes name);
static struct slot *find(const struct rd_name_set *set, const struct slot *digest);
static void grow(struct rd_name_set *set);
static bool is_free(const struct slot *slot);

struct rd_name_set *rd_name_set_create(void) {
  return rd_memory_new(1, sizeof(struct rd_name_set));
}

void rd_name_set_destroy(struct rd_name_set *set) {
  if (set == NULL) return;
  free(set->slots);
  free(set);
}

void rd_name_set_add(struct rd_name_set *set, struct rd_bytes name) {
  struct slot digest = digest_of(name);
  if (4 * (set->count + 1) > 3 * set->room) grow(set);
  struct slot *slot = find(set, &digest);
  set->count += is_free(slot);
  *slot = digest;
}

bool rd_name_set_has(const struct rd_name_set *set, struct rd_bytes name) {
  struct slot digest = digest_of(name);
  return set->room > 0 && !is_free(find(set, &digest));
}

bool rd_name_set_is_full(const struct rd_name_set *set, size_t most) {
  return set->count >= most;
}

static struct slot digest_of(struct rd_bytes name) {
  struct slot slot;
  rd_digest_of(name.at, name.count, (unsigned char *)slot.words);
  return slot;
}

// Its slot, or the free one where it would be.
static struct slot *find(const struct rd_name_set *set, const struct slot *digest) {
  size_t at = (size_t)digest->words[0] & (set->room - 1);
  while (!is_free(&set->slots[at]) && memcmp(&set->slots[at], digest, sizeof *digest) != 0)
    at = (at + 1) & (set->room - 1);
  return &set->slots[at];
}

static void grow(struct rd_name_set *set) {
  struct rd_name_set larger = {.room = set->room == 0 ? 64 : 2 * set->room, .count = set->count};
  larger.slots = rd_memory_new(larger.room, sizeof *larger.slots);
  for (size_t i = 0; i < set->room; i++)
    if (!is_free(&set->slots[i])) *find(&larger, &set->slots[i]) = set->slots[i];
  free(set->slots);
  *set = larger;
}

static bool is_free(const struct slot *slot) {
  return slot->words[0] == 0 && slot->words[1] == 0;
}
