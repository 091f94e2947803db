// SPDX-License-Identifier: Apache-2.0
#include "conn/pending_list.h"

#include <stdio.h>
#include <string.h>

// What somebody has shown of the key: nothing, his first word, an address that we were told to dial, all of it.
enum shown { SHOWN_NOTHING, SHOWN_NAME, SHOWN_OURS, SHOWN_ALL };

static size_t count_rdma(const struct rd_pending_list *pending_list);
static size_t least_advanced(const struct rd_pending_list *pending_list, bool only_rdma);
static enum shown key_shown(const struct rd_pending_entry *entry);

void rd_pending_list_make_room(struct rd_pending_list *pending_list, bool rdma) {
  if (rdma && count_rdma(pending_list) >= RD_PENDING_RDMA_MOST)
    rd_pending_list_drop(pending_list, least_advanced(pending_list, true));
  if (pending_list->count >= RD_PENDING_MOST) rd_pending_list_drop(pending_list, least_advanced(pending_list, false));
}

struct rd_pending_entry *rd_pending_list_add(struct rd_pending_list *pending_list, struct rd_pending *pending,
                                             bool rdma) {
  struct rd_pending_entry *entry = &pending_list->each[pending_list->count++];
  *entry = (struct rd_pending_entry){.pending = pending, .rdma = rdma};
  snprintf(entry->peer, sizeof entry->peer, "%s", rd_pending_peer(pending));
  return entry;
}

void rd_pending_list_drop(struct rd_pending_list *pending_list, size_t index) {
  rd_pending_destroy(pending_list->each[index].pending);
  pending_list->count--;
  memmove(&pending_list->each[index], &pending_list->each[index + 1],
          (pending_list->count - index) * sizeof pending_list->each[0]);
}

size_t rd_pending_list_drop_rdma_but(struct rd_pending_list *pending_list, size_t index) {
  if (!pending_list->each[index].rdma) return index;
  for (size_t i = pending_list->count; i-- > 0;) {
    if (i == index || !pending_list->each[i].rdma) continue;
    rd_pending_list_drop(pending_list, i);
    if (i < index) index--;
  }
  return index;
}

bool rd_pending_list_authenticated(const struct rd_pending_list *pending_list) {
  for (size_t i = 0; i < pending_list->count; i++)
    if (rd_pending_authenticated(pending_list->each[i].pending)) return true;
  return false;
}

static size_t count_rdma(const struct rd_pending_list *pending_list) {
  size_t count = 0;
  for (size_t i = 0; i < pending_list->count; i++)
    if (pending_list->each[i].rdma) count++;
  return count;
}

// Of those who have shown least the oldest; when all have shown everything, the newest.
static size_t least_advanced(const struct rd_pending_list *pending_list, bool only_rdma) {
  size_t least = 0;
  enum shown least_shown = SHOWN_ALL;
  for (size_t i = 0; i < pending_list->count; i++) {
    if (only_rdma && !pending_list->each[i].rdma) continue;
    enum shown shown = key_shown(&pending_list->each[i]);
    if (shown > least_shown || (shown == least_shown && shown != SHOWN_ALL)) continue;
    least = i;
    least_shown = shown;
  }
  return least;
}

static enum shown key_shown(const struct rd_pending_entry *entry) {
  if (rd_pending_authenticated(entry->pending)) return SHOWN_ALL;
  if (entry->origin != RD_ORIGIN_LISTENER) return SHOWN_OURS;
  return rd_pending_named_key(entry->pending) ? SHOWN_NAME : SHOWN_NOTHING;
}
