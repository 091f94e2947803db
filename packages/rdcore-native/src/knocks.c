// SPDX-License-Identifier: Apache-2.0
#include "knocks.h"

#include <stdio.h>
#include <string.h>

// What somebody has shown of the key: nothing, his first word, an address that we were told to dial, all of it.
enum shown { SHOWN_NOTHING, SHOWN_NAME, SHOWN_OURS, SHOWN_ALL };

static size_t count_rdma(const struct rd_knocks *knocks);
static size_t least_knock(const struct rd_knocks *knocks, bool only_rdma);
static enum shown key_shown(const struct rd_knock *knock);

void rd_knocks_make_room(struct rd_knocks *knocks, bool rdma) {
  if (rdma && count_rdma(knocks) >= RD_PENDING_RDMA_MOST) rd_knocks_drop(knocks, least_knock(knocks, true));
  if (knocks->count >= RD_PENDING_MOST) rd_knocks_drop(knocks, least_knock(knocks, false));
}

struct rd_knock *rd_knocks_add(struct rd_knocks *knocks, struct rd_pending *pending, bool rdma) {
  struct rd_knock *knock = &knocks->each[knocks->count++];
  *knock = (struct rd_knock){.pending = pending, .rdma = rdma};
  snprintf(knock->peer, sizeof knock->peer, "%s", rd_pending_peer(pending));
  return knock;
}

void rd_knocks_drop(struct rd_knocks *knocks, size_t index) {
  rd_pending_destroy(knocks->each[index].pending);
  knocks->count--;
  memmove(&knocks->each[index], &knocks->each[index + 1], (knocks->count - index) * sizeof knocks->each[0]);
}

size_t rd_knocks_drop_rdma_but(struct rd_knocks *knocks, size_t index) {
  if (!knocks->each[index].rdma) return index;
  for (size_t i = knocks->count; i-- > 0;) {
    if (i == index || !knocks->each[i].rdma) continue;
    rd_knocks_drop(knocks, i);
    if (i < index) index--;
  }
  return index;
}

bool rd_knocks_authenticated(const struct rd_knocks *knocks) {
  for (size_t i = 0; i < knocks->count; i++)
    if (rd_pending_authenticated(knocks->each[i].pending)) return true;
  return false;
}

static size_t count_rdma(const struct rd_knocks *knocks) {
  size_t count = 0;
  for (size_t i = 0; i < knocks->count; i++)
    if (knocks->each[i].rdma) count++;
  return count;
}

// Of those who have shown least the oldest; when all have shown everything, the newest.
static size_t least_knock(const struct rd_knocks *knocks, bool only_rdma) {
  size_t least = 0;
  enum shown least_shown = SHOWN_ALL;
  for (size_t i = 0; i < knocks->count; i++) {
    if (only_rdma && !knocks->each[i].rdma) continue;
    enum shown shown = key_shown(&knocks->each[i]);
    if (shown > least_shown || (shown == least_shown && shown != SHOWN_ALL)) continue;
    least = i;
    least_shown = shown;
  }
  return least;
}

static enum shown key_shown(const struct rd_knock *knock) {
  if (rd_pending_authenticated(knock->pending)) return SHOWN_ALL;
  if (knock->way != RD_WAY_LISTENER) return SHOWN_OURS;
  return rd_pending_named_key(knock->pending) ? SHOWN_NAME : SHOWN_NOTHING;
}
