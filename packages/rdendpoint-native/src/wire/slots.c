// SPDX-License-Identifier: Apache-2.0
#include "wire/slots.h"

#include "base/pages.h"
#include "wire/wire.h"

#include <stdlib.h>

bool rd_slots_create(struct rd_slots *slots, unsigned count, size_t payload_bytes, struct rd_error *error) {
  // The first page holds only the first slot's headroom and header. The tag of a payload shares a page with the next
  // slot's headroom and header.
  size_t behind = RD_TAG_BYTES + RD_SLOT_HEADROOM_BYTES + RD_HEADER_BYTES;
  *slots = (struct rd_slots){.count = count, .free_count = count};
  slots->message_bytes = RD_HEADER_BYTES + payload_bytes + RD_TAG_BYTES;
  slots->stride_bytes = rd_pages_round(payload_bytes + behind);
  slots->memory_bytes = rd_page_bytes() + count * slots->stride_bytes;
  slots->memory = rd_pages_allocate(slots->memory_bytes);
  slots->free = calloc(count, sizeof *slots->free);
  if (slots->memory == NULL || slots->free == NULL) {
    rd_slots_free(slots);
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for %u buffers of %zu bytes (--buffer asks for less)", count,
                 payload_bytes);
    return false;
  }
  for (unsigned i = 0; i < count; i++) slots->free[i] = count - 1 - i;
  return true;
}

bool rd_slots_create_early(struct rd_slots *slots, struct rd_error *error) {
  return rd_slots_create(slots, 1, RD_HANDSHAKE_MESSAGE_MAX_BYTES - RD_HEADER_BYTES - RD_TAG_BYTES, error);
}

bool rd_slots_take(struct rd_slots *slots, unsigned *slot) {
  if (slots->free_count == 0) return false;
  *slot = slots->free[--slots->free_count];
  return true;
}

void rd_slots_give(struct rd_slots *slots, unsigned slot) {
  slots->free[slots->free_count++] = slot;
}

unsigned char *rd_slots_message(const struct rd_slots *slots, unsigned slot) {
  return slots->memory + rd_page_bytes() + slot * slots->stride_bytes - RD_HEADER_BYTES;
}

void rd_slots_free(struct rd_slots *slots) {
  free(slots->memory);
  free(slots->free);
  *slots = (struct rd_slots){0};
}
