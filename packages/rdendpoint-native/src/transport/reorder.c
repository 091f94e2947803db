// SPDX-License-Identifier: Apache-2.0
#include "transport/reorder.h"

void rd_reorder_init(struct rd_reorder *reorder, unsigned first) {
  *reorder = (struct rd_reorder){.next = first};
}

bool rd_reorder_put(struct rd_reorder *reorder, unsigned number, const struct rd_message *message) {
  struct rd_message *place = &reorder->held[number];
  if (place->data != NULL) return false;
  *place = *message;
  return true;
}

bool rd_reorder_take(struct rd_reorder *reorder, struct rd_message *message) {
  struct rd_message *place = &reorder->held[reorder->next];
  if (place->data == NULL) return false;
  *message = *place;
  place->data = NULL;
  reorder->next = (reorder->next + 1) % RD_MESSAGE_NUMBERS;
  return true;
}

void rd_release_count_add(struct rd_release_count *count, uint64_t index) {
  count->released[index % RD_MESSAGE_NUMBERS] = true;
  while (count->released[count->prefix % RD_MESSAGE_NUMBERS]) {
    count->released[count->prefix % RD_MESSAGE_NUMBERS] = false;
    count->prefix++;
  }
}
