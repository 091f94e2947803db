// SPDX-License-Identifier: Apache-2.0
#include "scan/hard_links.h"

#include "base/memory.h"
#include "entry/metadata.h"
#include "report/events.h"
#include "scan/spool.h"

#include <stdlib.h>

#define NONE UINT32_MAX
#define ROOM_MIN 1024u

struct link {
  uint64_t device, inode;
  uint64_t path; // its position in the spool
  uint32_t left; // names that have not been seen
  uint32_t next; // in its bucket, or in the list of unused links
};

struct rd_hard_links {
  struct link *at;
  uint32_t *buckets; // `room` of them; a power of two
  uint32_t count, room, unused;
  struct rd_spool *spool;
  bool is_full; // the spool could not be written
};

static uint32_t *find(const struct rd_hard_links *links, uint64_t device, uint64_t inode);
static void keep(struct rd_hard_links *links, const struct statx *status, struct rd_bytes path);
static void grow(struct rd_hard_links *links);
static uint32_t bucket_of(const struct rd_hard_links *links, uint64_t device, uint64_t inode);

struct rd_hard_links *rd_hard_links_create(void) {
  struct rd_hard_links *links = rd_memory_new(1, sizeof *links);
  links->unused = NONE;
  links->spool = rd_spool_create();
  grow(links);
  return links;
}

void rd_hard_links_destroy(struct rd_hard_links *links) {
  if (links == NULL) return;
  rd_spool_destroy(links->spool);
  free(links->at);
  free(links->buckets);
  free(links);
}

bool rd_hard_links_see(struct rd_hard_links *links, const struct statx *status, struct rd_bytes path,
                       struct rd_bytes *first) {
  if (status->stx_nlink < 2) return false;
  uint32_t *place = find(links, rd_device_of(status), status->stx_ino);
  if (*place == NONE) {
    keep(links, status, path);
    return false;
  }
  uint32_t index = *place;
  struct link *link = &links->at[index];
  bool is_read = rd_spool_get(links->spool, link->path, first);
  if (--link->left > 0) return is_read;
  *place = link->next;
  link->next = links->unused;
  links->unused = index;
  return is_read;
}

// Returns the place of the link's index, or that of the NONE that ends its bucket.
static uint32_t *find(const struct rd_hard_links *links, uint64_t device, uint64_t inode) {
  uint32_t *place = &links->buckets[bucket_of(links, device, inode)];
  while (*place != NONE && (links->at[*place].inode != inode || links->at[*place].device != device))
    place = &links->at[*place].next;
  return place;
}

static void keep(struct rd_hard_links *links, const struct statx *status, struct rd_bytes path) {
  uint64_t at;
  if (links->is_full || path.count > RD_PATH_MAX_BYTES) return;
  if (!rd_spool_put(links->spool, path, &at)) {
    links->is_full = true;
    rd_events_warning("no room for a temporary file: further hard links are copied as separate files");
    return;
  }
  if (links->unused == NONE && links->count == links->room) grow(links);
  uint32_t index = links->unused;
  if (index == NONE)
    index = links->count++;
  else
    links->unused = links->at[index].next;
  uint64_t device = rd_device_of(status);
  uint32_t *bucket = &links->buckets[bucket_of(links, device, status->stx_ino)];
  links->at[index] = (struct link){device, status->stx_ino, at, status->stx_nlink - 1, *bucket};
  *bucket = index;
}

// Call only when all links are in use.
static void grow(struct rd_hard_links *links) {
  links->room = links->room == 0 ? ROOM_MIN : 2 * links->room;
  links->at = rd_memory_resize(links->at, links->room, sizeof *links->at);
  free(links->buckets);
  links->buckets = rd_memory_new(links->room, sizeof *links->buckets);
  for (uint32_t i = 0; i < links->room; i++) links->buckets[i] = NONE;
  for (uint32_t i = 0; i < links->count; i++) {
    uint32_t *bucket = &links->buckets[bucket_of(links, links->at[i].device, links->at[i].inode)];
    links->at[i].next = *bucket;
    *bucket = i;
  }
}

static uint32_t bucket_of(const struct rd_hard_links *links, uint64_t device, uint64_t inode) {
  uint64_t mixed = (inode ^ device << 32) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(mixed >> 32) & (links->room - 1);
}
