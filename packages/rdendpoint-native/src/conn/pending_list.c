// SPDX-License-Identifier: Apache-2.0
#include "conn/pending_list.h"

#include <stdio.h>
#include <string.h>

// Progress in proving the key; a dialed address counts as more than an unauthenticated first message.
enum progress { PROGRESS_NONE, PROGRESS_NAMED_KEY, PROGRESS_DIALED, PROGRESS_AUTHENTICATED };

static size_t count_rdma(const struct rd_pending_list *pending_list);
static size_t least_advanced(const struct rd_pending_list *pending_list, bool only_rdma);
static enum progress progress_of(const struct rd_pending_entry *entry);

void rd_pending_list_make_room(struct rd_pending_list *pending_list, bool rdma) {
  if (rdma && count_rdma(pending_list) >= RD_PENDING_RDMA_MAX)
    rd_pending_list_drop(pending_list, least_advanced(pending_list, true));
  if (pending_list->count >= RD_PENDING_MAX) rd_pending_list_drop(pending_list, least_advanced(pending_list, false));
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

// Returns the oldest of the least advanced; if all are authenticated, the newest.
static size_t least_advanced(const struct rd_pending_list *pending_list, bool only_rdma) {
  size_t least = 0;
  enum progress least_progress = PROGRESS_AUTHENTICATED;
  for (size_t i = 0; i < pending_list->count; i++) {
    if (only_rdma && !pending_list->each[i].rdma) continue;
    enum progress progress = progress_of(&pending_list->each[i]);
    if (progress > least_progress || (progress == least_progress && progress != PROGRESS_AUTHENTICATED)) continue;
    least = i;
    least_progress = progress;
  }
  return least;
}

static enum progress progress_of(const struct rd_pending_entry *entry) {
  if (rd_pending_authenticated(entry->pending)) return PROGRESS_AUTHENTICATED;
  if (entry->origin != RD_ORIGIN_LISTENER) return PROGRESS_DIALED;
  return rd_pending_named_key(entry->pending) ? PROGRESS_NAMED_KEY : PROGRESS_NONE;
}
