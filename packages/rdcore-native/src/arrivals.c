// SPDX-License-Identifier: Apache-2.0
#include "arrivals.h"

#include <string.h>

// Slots for frames other than DATA: they are given back at once, so one on its way and one in hand are enough.
#define CONTROL_SLOTS 2u
// Frames that are received in one go: after them it is the turn of whoever commands this end, however much comes.
#define FRAMES_AT_ONCE 256u

static bool make_small(struct rd_arrivals *arrivals, struct rd_error *error);
static bool make_inbound(struct rd_arrivals *arrivals, unsigned jobs, struct rd_error *error);
static int take_message(struct rd_arrivals *arrivals, struct rd_arrival *arrival, struct rd_error *error);
static bool open_frame(struct rd_arrivals *arrivals, struct rd_arrival *arrival, struct rd_error *error);
static bool is_as_agreed(const struct rd_agreement *agreement, const struct rd_frame *frame);
static bool make_small_copy(struct rd_arrivals *arrivals, struct rd_arrival *arrival, struct rd_error *error);
static bool hold_back(struct rd_arrivals *arrivals, const struct rd_arrival *arrival, bool *held,
                      struct rd_error *error);
static bool out_of_place(const struct rd_frame *frame, struct rd_error *error);

bool rd_arrivals_begin(struct rd_arrivals *arrivals, struct rd_transport *transport,
                       const struct rd_agreement *agreement, unsigned jobs, struct rd_error *error) {
  const struct rd_hello *mine = &agreement->mine;
  *arrivals = (struct rd_arrivals){.transport = transport, .agreement = agreement};
  size_t payload_bytes =
      mine->slot_bytes > RD_CONTROL_PAYLOAD_MAX_BYTES ? mine->slot_bytes : RD_CONTROL_PAYLOAD_MAX_BYTES;
  return transport->ops->arm(transport, mine->slots + CONTROL_SLOTS, payload_bytes, error) &&
         make_small(arrivals, error) && make_inbound(arrivals, jobs, error);
}

void rd_arrivals_stop(struct rd_arrivals *arrivals) {
  if (arrivals->inbound != NULL) rd_inbound_stop(arrivals->inbound);
}

void rd_arrivals_free(struct rd_arrivals *arrivals) {
  rd_inbound_destroy(arrivals->inbound);
  rd_slots_free(&arrivals->small);
}

int rd_arrivals_ready(struct rd_arrivals *arrivals, struct rd_arrival *arrival, struct rd_error *error) {
  if (arrivals->inbound == NULL) return 0;
  int taken = rd_inbound_take(arrivals->inbound, arrival, error);
  if (taken != 0 || !arrivals->is_last_held || !rd_inbound_is_empty(arrivals->inbound)) return taken;
  arrivals->is_last_held = false;
  *arrival = arrivals->last;
  return 1;
}

int rd_arrivals_next(struct rd_arrivals *arrivals, struct rd_arrival *arrival, bool *held, struct rd_error *error) {
  *held = false;
  int taken = take_message(arrivals, arrival, error);
  if (taken <= 0) return taken;
  return hold_back(arrivals, arrival, held, error) ? 1 : -1;
}

void rd_arrivals_give_back(struct rd_arrivals *arrivals, const struct rd_arrival *arrival) {
  if (arrival->is_small)
    rd_slots_give(&arrivals->small, arrival->message.slot);
  else
    arrivals->transport->ops->give_back(arrivals->transport, &arrival->message);
  if (arrivals->inbound != NULL) rd_inbound_give_back(arrivals->inbound, arrival);
}

bool rd_arrivals_are_in_work(const struct rd_arrivals *arrivals) {
  return arrivals->inbound != NULL && !rd_inbound_is_empty(arrivals->inbound);
}

void rd_arrivals_close(struct rd_arrivals *arrivals) {
  arrivals->is_closed = true;
}

// Any frame may be a small one.
static bool make_small(struct rd_arrivals *arrivals, struct rd_error *error) {
  const struct rd_hello *mine = &arrivals->agreement->mine;
  return mine->small_slots == 0 ||
         rd_slots_create(&arrivals->small, mine->slots + mine->small_slots, RD_SMALL_BYTES, error);
}

static bool make_inbound(struct rd_arrivals *arrivals, unsigned jobs, struct rd_error *error) {
  const struct rd_agreement *agreement = arrivals->agreement;
  if (agreement->mine.slots == 0) return true;
  struct rd_inbound_config config = {.seal = agreement->protection != RD_PROTECTION_NONE ? agreement->incoming : NULL,
                                     .jobs = jobs,
                                     .frames = agreement->mine.slots + agreement->mine.small_slots + CONTROL_SLOTS,
                                     .slot_bytes = agreement->mine.slot_bytes};
  arrivals->inbound = rd_inbound_create(&config, error);
  return arrivals->inbound != NULL;
}

// DATA as it came.
static int take_message(struct rd_arrivals *arrivals, struct rd_arrival *arrival, struct rd_error *error) {
  struct rd_transport *transport = arrivals->transport;
  *arrival = (struct rd_arrival){0};
  arrivals->has_more = arrivals->received == FRAMES_AT_ONCE;
  int received = arrivals->has_more ? 0 : transport->ops->receive(transport, &arrival->message, error);
  arrivals->received = received > 0 ? arrivals->received + 1 : 0;
  if (received == 0) transport->ops->expect_releases(transport, false); // until somebody asks again
  if (received <= 0) return received;
  return open_frame(arrivals, arrival, error) ? 1 : -1;
}

// But for the seal, or the MAC, of DATA.
static bool open_frame(struct rd_arrivals *arrivals, struct rd_arrival *arrival, struct rd_error *error) {
  const struct rd_message *message = &arrival->message;
  struct rd_frame *frame = &arrival->frame;
  if (!rd_frame_decode(message->data, message->bytes, frame, error)) return false;
  if (!is_as_agreed(arrivals->agreement, frame)) return out_of_place(frame, error);
  if (frame->type != RD_FRAME_DATA) {
    return rd_seal_open(arrivals->agreement->incoming, message->data, message->bytes, frame, &arrival->payload,
                        &arrival->bytes, error);
  }
  arrivals->wire_bytes += message->bytes;
  arrival->payload = message->data + RD_HEADER_BYTES;
  arrival->bytes = message->bytes - RD_HEADER_BYTES;
  bool is_small = arrivals->small.count > 0 && message->bytes <= arrivals->small.message_bytes;
  return !is_small || make_small_copy(arrivals, arrival, error);
}

// Protected neither less nor more than both ends said, and compressed only where that was offered.
static bool is_as_agreed(const struct rd_agreement *agreement, const struct rd_frame *frame) {
  bool is_data = frame->type == RD_FRAME_DATA;
  unsigned must_have = is_data ? rd_protection_flag(agreement->protection) : RD_FLAG_SEALED;
  unsigned may_have = is_data && agreement->compresses ? RD_FLAG_COMPRESSED : 0u;
  return frame->type != RD_FRAME_HANDSHAKE && frame->epoch == agreement->mine.epoch &&
         (frame->flags & ~may_have) == must_have;
}

// What is small waits elsewhere, and its slot is free for what comes.
static bool make_small_copy(struct rd_arrivals *arrivals, struct rd_arrival *arrival, struct rd_error *error) {
  unsigned slot;
  if (!rd_slots_take(&arrivals->small, &slot)) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the sender sent more than it was allowed to");
    return false;
  }
  unsigned char *copy = rd_slots_message(&arrivals->small, slot);
  memcpy(copy, arrival->message.data, arrival->message.bytes);
  arrivals->transport->ops->give_back(arrivals->transport, &arrival->message);
  arrival->message.data = copy;
  arrival->message.slot = slot;
  arrival->payload = copy + RD_HEADER_BYTES;
  arrival->is_small = true;
  return true;
}

static bool hold_back(struct rd_arrivals *arrivals, const struct rd_arrival *arrival, bool *held,
                      struct rd_error *error) {
  enum rd_frame_type type = arrival->frame.type;
  struct rd_inbound *inbound = arrivals->inbound;
  bool is_data = type == RD_FRAME_DATA, is_end = type == RD_FRAME_END;
  if (is_data && inbound == NULL) return out_of_place(&arrival->frame, error);
  if ((!is_data && !is_end) || inbound == NULL) return true;
  if (arrivals->is_last_held) return out_of_place(&arrival->frame, error); // nothing comes after END
  if (is_end) {
    *held = !rd_inbound_is_empty(inbound);
    arrivals->is_last_held = *held;
    arrivals->last = *arrival;
    return true;
  }
  if (arrivals->is_closed) {
    *held = true;
    rd_arrivals_give_back(arrivals, arrival);
    return true;
  }
  *held = arrival->frame.flags != 0 || !rd_inbound_is_empty(inbound);
  return !*held || rd_inbound_put(inbound, arrival, error);
}

static bool out_of_place(const struct rd_frame *frame, struct rd_error *error) {
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "a frame of type %d came out of place", (int)frame->type);
  return false;
}
