// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/receive.h"

#include "base/pages.h"
#include "transport/lanes.h"
#include "transport/verbs/memory.h"
#include "wire/wire.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_STRIDE_BYTES (RD_VERBS_PREAMBLE_BYTES + RD_VERBS_SMALL_BUFFER_BYTES)
#define SMALL_BYTES (RD_VERBS_SMALL_BUFFERS * SMALL_STRIDE_BYTES)
#define LARGE_MAX (RD_VERBS_QUEUE_RECEIVES_MAX - RD_VERBS_SMALL_BUFFERS)
// One for a SEND without a message, and one that can arrive while every slot is held.
#define SLOTS_BESIDE 2u
#define SMALL_WR (1ull << 32)  // a bit in a buffer's wr_id
#define JOINED_SLOT (1u << 31) // a bit in a message's slot

_Static_assert(RD_SLOT_HEADROOM_BYTES >= RD_VERBS_PREAMBLE_BYTES, "the preamble comes before the message");

static bool post_small(struct rd_verbs_receive *receive, unsigned index, struct rd_error *error);
static bool post_large(struct rd_verbs_receive *receive, unsigned slot, struct rd_error *error);
static bool post_again(struct rd_verbs_receive *receive, uint64_t wr_id, struct rd_error *error);
static unsigned char *buffer_of(const struct rd_verbs_receive *receive, uint64_t wr_id);
static enum rd_outcome take_piece(struct rd_verbs_receive *receive, const struct rd_verbs_receive_piece *piece,
                                  struct rd_message *message, struct rd_error *error);
static bool is_possible(const struct rd_verbs_receive *receive, const struct rd_verbs_receive_piece *piece);
static uint32_t length_of(const struct rd_verbs_receive *receive, const struct rd_verbs_receive_piece *piece);
static bool begin_joining(struct rd_verbs_receive *receive, size_t bytes, struct rd_error *error);
static enum rd_outcome join(struct rd_verbs_receive *receive, const struct rd_verbs_receive_piece *piece,
                            struct rd_message *message, struct rd_error *error);
static unsigned free_joined(const struct rd_verbs_receive *receive);
static unsigned char *message_in(unsigned char *joined);

bool rd_verbs_receive_open(struct rd_verbs_receive *receive, struct rd_verbs_queue *queue, struct rd_verbs_flow *flow,
                           struct rd_error *error) {
  *receive = (struct rd_verbs_receive){.queue = queue, .flow = flow, .held_most = 1};
  receive->small = rd_pages_allocate(SMALL_BYTES);
  if (receive->small == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
    return false;
  }
  receive->small_region = rd_verbs_register(queue->verbs, queue->domain, receive->small, SMALL_BYTES, true, error);
  bool good = receive->small_region != NULL;
  for (unsigned i = 0; good && i < RD_VERBS_SMALL_BUFFERS; i++) good = post_small(receive, i, error);
  if (good) return true;
  rd_verbs_receive_detach(receive);
  rd_verbs_receive_close(receive);
  return false;
}

void rd_verbs_receive_detach(struct rd_verbs_receive *receive) {
  if (receive->small_region != NULL) receive->queue->verbs->ibv_dereg_mr(receive->small_region);
  if (receive->slots_region != NULL) receive->queue->verbs->ibv_dereg_mr(receive->slots_region);
  receive->small_region = receive->slots_region = NULL;
}

void rd_verbs_receive_close(struct rd_verbs_receive *receive) {
  for (unsigned i = 0; i < RD_VERBS_RECEIVE_JOINED_MAX; i++) free(receive->joined[i]);
  free(receive->joining);
  free(receive->small);
  rd_slots_free(&receive->slots);
  *receive = (struct rd_verbs_receive){0};
}

bool rd_verbs_receive_arm(struct rd_verbs_receive *receive, unsigned slots, size_t payload_bytes,
                          struct rd_error *error) {
  if (receive->held > 0 || receive->armed) {
    rd_error_set(error, RD_CODE_INTERNAL, "a message is still in use while memory for data is set up");
    return false;
  }
  unsigned large = slots + SLOTS_BESIDE < LARGE_MAX ? slots + SLOTS_BESIDE : LARGE_MAX;
  struct rd_verbs_queue *queue = receive->queue;
  if (!rd_slots_create(&receive->slots, large, payload_bytes, error)) return false;
  receive->slots_region =
      rd_verbs_register(queue->verbs, queue->domain, receive->slots.memory, receive->slots.memory_bytes, true, error);
  if (receive->slots_region == NULL) return false;
  receive->armed = true;
  receive->held_most = large - SLOTS_BESIDE;
  for (unsigned slot = 0; slot < large; slot++) {
    rd_verbs_flow_post_large(receive->flow, (uint32_t)receive->slots.message_bytes);
    if (!post_large(receive, slot, error)) return false;
  }
  return true;
}

uint32_t rd_verbs_receive_circulating(const struct rd_verbs_receive *receive) {
  return receive->armed ? receive->slots.count : RD_VERBS_SMALL_BUFFERS;
}

bool rd_verbs_receive_arrived(struct rd_verbs_receive *receive, uint64_t wr_id, uint32_t bytes,
                              struct rd_error *error) {
  struct rd_verbs_preamble preamble;
  if (bytes < RD_VERBS_PREAMBLE_BYTES) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent data that is not a message");
    return false;
  }
  rd_verbs_preamble_decode(buffer_of(receive, wr_id), &preamble);
  if (!rd_verbs_flow_take(receive->flow, &preamble, error)) return false;
  if (preamble.message == 0) return post_again(receive, wr_id, error);
  unsigned last = (receive->pieces_first + receive->pieces_count++) % RD_VERBS_QUEUE_RECEIVES_MAX;
  receive->pieces[last] = (struct rd_verbs_receive_piece){
      .wr_id = wr_id, .bytes = bytes - RD_VERBS_PREAMBLE_BYTES, .message = preamble.message};
  return true;
}

enum rd_outcome rd_verbs_receive_next(struct rd_verbs_receive *receive, struct rd_message *message, unsigned *number,
                                      struct rd_error *error) {
  enum rd_outcome taken = RD_OUTCOME_AGAIN;
  while (taken == RD_OUTCOME_AGAIN && receive->pieces_count > 0 && receive->held < receive->held_most) {
    if (free_joined(receive) == RD_VERBS_RECEIVE_JOINED_MAX) return RD_OUTCOME_AGAIN;
    struct rd_verbs_receive_piece piece = receive->pieces[receive->pieces_first];
    receive->pieces_first = (receive->pieces_first + 1) % RD_VERBS_QUEUE_RECEIVES_MAX;
    receive->pieces_count--;
    *number = piece.message >> RD_MESSAGE_NUMBER_SHIFT;
    taken = take_piece(receive, &piece, message, error);
  }
  if (taken == RD_OUTCOME_DONE) receive->held++;
  return taken;
}

bool rd_verbs_receive_give_back(struct rd_verbs_receive *receive, const struct rd_message *message,
                                struct rd_error *error) {
  receive->held--;
  if ((message->slot & JOINED_SLOT) == 0) return post_again(receive, RD_VERBS_RECEIVE_WR | message->slot, error);
  unsigned index = message->slot & ~JOINED_SLOT;
  free(receive->joined[index]);
  receive->joined[index] = NULL;
  return true;
}

static bool post_small(struct rd_verbs_receive *receive, unsigned index, struct rd_error *error) {
  struct ibv_sge buffer = {.addr = (uintptr_t)(receive->small + index * SMALL_STRIDE_BYTES),
                           .length = SMALL_STRIDE_BYTES,
                           .lkey = receive->small_region->lkey};
  return rd_verbs_queue_post_receive(receive->queue, RD_VERBS_RECEIVE_WR | SMALL_WR | index, buffer, error);
}

static bool post_large(struct rd_verbs_receive *receive, unsigned slot, struct rd_error *error) {
  unsigned char *message = rd_slots_message(&receive->slots, slot);
  struct ibv_sge buffer = {.addr = (uintptr_t)(message - RD_VERBS_PREAMBLE_BYTES),
                           .length = (uint32_t)(RD_VERBS_PREAMBLE_BYTES + receive->slots.message_bytes),
                           .lkey = receive->slots_region->lkey};
  return rd_verbs_queue_post_receive(receive->queue, RD_VERBS_RECEIVE_WR | slot, buffer, error);
}

// Small buffers are posted again only until large ones replace them.
static bool post_again(struct rd_verbs_receive *receive, uint64_t wr_id, struct rd_error *error) {
  if ((wr_id & SMALL_WR) == 0) {
    rd_verbs_flow_post_large(receive->flow, (uint32_t)receive->slots.message_bytes);
    return post_large(receive, (unsigned)wr_id, error);
  }
  if (receive->armed) return true;
  rd_verbs_flow_post_small(receive->flow);
  return post_small(receive, (unsigned)wr_id, error);
}

static unsigned char *buffer_of(const struct rd_verbs_receive *receive, uint64_t wr_id) {
  if ((wr_id & SMALL_WR) != 0) return receive->small + (unsigned)wr_id * SMALL_STRIDE_BYTES;
  return rd_slots_message(&receive->slots, (unsigned)wr_id) - RD_VERBS_PREAMBLE_BYTES;
}

// AGAIN: more of the message is to come.
static enum rd_outcome take_piece(struct rd_verbs_receive *receive, const struct rd_verbs_receive_piece *piece,
                                  struct rd_message *message, struct rd_error *error) {
  if (!is_possible(receive, piece)) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent an unexpected message of %u bytes, or piece of %u bytes",
                 length_of(receive, piece), piece->bytes);
    return RD_OUTCOME_FAILED;
  }
  bool is_whole = piece->bytes == length_of(receive, piece);
  if (receive->joining == NULL && is_whole && (piece->wr_id & SMALL_WR) == 0) {
    unsigned slot = (unsigned)piece->wr_id;
    *message = (struct rd_message){rd_slots_message(&receive->slots, slot), piece->bytes, slot};
    return RD_OUTCOME_DONE;
  }
  if (receive->joining == NULL && !begin_joining(receive, length_of(receive, piece), error)) return RD_OUTCOME_FAILED;
  return join(receive, piece, message, error);
}

static bool is_possible(const struct rd_verbs_receive *receive, const struct rd_verbs_receive_piece *piece) {
  size_t most = receive->armed ? receive->slots.message_bytes : RD_HANDSHAKE_MESSAGE_MAX_BYTES;
  uint32_t length = length_of(receive, piece);
  if (piece->bytes == 0 || length < RD_HEADER_BYTES) return false;
  if (receive->joining == NULL) return length <= most && piece->bytes <= length;
  return length == receive->joining_bytes && piece->bytes <= receive->joining_bytes - receive->joined_bytes;
}

static uint32_t length_of(const struct rd_verbs_receive *receive, const struct rd_verbs_receive_piece *piece) {
  return receive->is_numbered ? piece->message & RD_MESSAGE_LENGTH_MASK : piece->message;
}

static bool begin_joining(struct rd_verbs_receive *receive, size_t bytes, struct rd_error *error) {
  receive->joining = rd_pages_allocate(rd_page_bytes() + bytes);
  receive->joining_bytes = bytes;
  receive->joined_bytes = 0;
  if (receive->joining == NULL) rd_error_set(error, RD_CODE_INTERNAL, "no memory for a message of %zu bytes", bytes);
  return receive->joining != NULL;
}

static enum rd_outcome join(struct rd_verbs_receive *receive, const struct rd_verbs_receive_piece *piece,
                            struct rd_message *message, struct rd_error *error) {
  unsigned char *to = message_in(receive->joining);
  memcpy(to + receive->joined_bytes, buffer_of(receive, piece->wr_id) + RD_VERBS_PREAMBLE_BYTES, piece->bytes);
  receive->joined_bytes += piece->bytes;
  if (!post_again(receive, piece->wr_id, error)) return RD_OUTCOME_FAILED;
  if (receive->joined_bytes < receive->joining_bytes) return RD_OUTCOME_AGAIN;
  unsigned index = free_joined(receive);
  *message = (struct rd_message){to, receive->joining_bytes, JOINED_SLOT | index};
  receive->joined[index] = receive->joining;
  receive->joining = NULL;
  return RD_OUTCOME_DONE;
}

// Returns RD_VERBS_RECEIVE_JOINED_MAX if none is free.
static unsigned free_joined(const struct rd_verbs_receive *receive) {
  unsigned index = 0;
  while (index < RD_VERBS_RECEIVE_JOINED_MAX && receive->joined[index] != NULL) index++;
  return index;
}

// Like in a slot, the payload is page-aligned.
static unsigned char *message_in(unsigned char *joined) {
  return joined + rd_page_bytes() - RD_HEADER_BYTES;
}
