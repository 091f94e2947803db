// SPDX-License-Identifier: Apache-2.0
#include "hop/relay.h"

#include "base/memory.h"

#include <stdlib.h>

// In the memory that both sides share.
struct notes {
  atomic_bool ended; // `end` is set
  struct rd_end end;
  atomic_int behind; // enum rd_behind
};
_Static_assert(sizeof(struct notes) <= RD_SHARED_RING_NOTES_BYTES, "the notes fit");

struct rd_relay {
  struct rd_shared_ring *shared;
  struct notes *notes;
};

struct rd_relay *rd_relay_open(enum rd_role role, struct rd_ring_fds fds, struct rd_error *error) {
  struct rd_shared_ring *shared =
      rd_shared_ring_open(role == RD_ROLE_RECEIVER ? RD_RING_WRITER : RD_RING_READER, fds, error);
  if (shared == NULL) return NULL;
  struct rd_relay *relay = rd_memory_new(1, sizeof *relay);
  *relay = (struct rd_relay){.shared = shared, .notes = rd_shared_ring_notes(shared)};
  return relay;
}

void rd_relay_destroy(struct rd_relay *relay) {
  if (relay == NULL) return;
  rd_shared_ring_destroy(relay->shared);
  free(relay);
}

struct rd_shared_ring *rd_relay_shared(const struct rd_relay *relay) {
  return relay->shared;
}

struct rd_ring *rd_relay_ring(struct rd_relay *relay, struct rd_error *error) {
  return rd_shared_ring_get(relay->shared, error);
}

void rd_relay_end(struct rd_relay *relay, const struct rd_end *end) {
  relay->notes->end = *end;
  atomic_store(&relay->notes->ended, true);
  rd_shared_ring_tell(relay->shared);
}

bool rd_relay_has_ended(const struct rd_relay *relay, struct rd_end *end) {
  bool ended = atomic_load(&relay->notes->ended);
  if (ended) *end = relay->notes->end;
  return ended;
}

void rd_relay_set_behind(struct rd_relay *relay, enum rd_behind behind) {
  atomic_store(&relay->notes->behind, (int)behind);
  rd_shared_ring_tell(relay->shared);
}

enum rd_behind rd_relay_behind(const struct rd_relay *relay) {
  return (enum rd_behind)atomic_load(&relay->notes->behind);
}
