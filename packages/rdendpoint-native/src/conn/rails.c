// SPDX-License-Identifier: Apache-2.0
#include "conn/rails.h"

static void keep(struct rd_rails *rails, bool rdma);
static size_t find(const struct rd_rails *rails, const struct rd_address *address);

void rd_rails_set(struct rd_rails *rails, const struct rd_address *addresses, size_t count) {
  size_t kinds[2] = {0, 0};
  *rails = (struct rd_rails){.count = 0};
  for (size_t i = 0; i < count; i++)
    if (kinds[addresses[i].rdma]++ < RD_RAILS_MAX) rails->each[rails->count++] = addresses[i];
}

void rd_rails_connected(struct rd_rails *rails, const struct rd_address *address) {
  keep(rails, address->rdma);
  size_t found = find(rails, address);
  if (found == rails->count) {
    *rails = (struct rd_rails){.each = {*address}, .count = 1};
    found = 0;
  }
  memset(rails->lanes, 0, sizeof rails->lanes);
  rails->first = found;
  rails->lanes[found] = 1;
}

void rd_rails_joined(struct rd_rails *rails, const struct rd_address *address) {
  size_t found = find(rails, address);
  if (found < rails->count) rails->lanes[found]++;
}

unsigned rd_rails_lanes(const struct rd_rails *rails) {
  unsigned lanes = 0;
  for (size_t i = 0; i < rails->count; i++) lanes += rails->lanes[i];
  return lanes;
}

void rd_rails_choose(const struct rd_rails *rails, struct rd_address *addresses, unsigned count) {
  unsigned lanes[RD_RAILS_MAX];
  memcpy(lanes, rails->lanes, sizeof lanes);
  for (unsigned i = 0; i < count; i++) {
    size_t fewest = 0;
    for (size_t rail = 1; rail < rails->count; rail++)
      if (lanes[rail] < lanes[fewest]) fewest = rail;
    addresses[i] = rails->each[fewest];
    lanes[fewest]++;
  }
}

size_t rd_rails_in_turn(const struct rd_rails *rails, struct rd_address addresses[RD_RAILS_MAX]) {
  for (size_t i = 0; i < rails->count; i++) addresses[i] = rails->each[(rails->first + i) % rails->count];
  return rails->count;
}

// Forgets the rails over the other transport.
static void keep(struct rd_rails *rails, bool rdma) {
  size_t kept = 0;
  for (size_t i = 0; i < rails->count; i++)
    if (rails->each[i].rdma == rdma) rails->each[kept++] = rails->each[i];
  rails->count = kept;
}

// Returns the number of rails if it is none of them.
static size_t find(const struct rd_rails *rails, const struct rd_address *address) {
  size_t rail = 0;
  while (rail < rails->count && !rd_address_is(&rails->each[rail], address)) rail++;
  return rail;
}
