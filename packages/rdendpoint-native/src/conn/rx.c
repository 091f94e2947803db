// SPDX-License-Identifier: Apache-2.0
#include "conn/rx.h"

#include <string.h>

// Slots for frames other than DATA: they are given back at once, so one in flight and one being handled are enough.
#define CONTROL_SLOTS 2u
// Frames received in a row; then commands are handled, however much arrives.
#define FRAMES_AT_ONCE 256u

static bool make_small(struct rd_rx *rx, struct rd_error *error);
static bool make_decoder(struct rd_rx *rx, unsigned jobs, struct rd_error *error);
static enum rd_outcome take_decoded(struct rd_rx *rx, struct rd_rx_frame *rx_frame, struct rd_error *error);
static enum rd_outcome take_message(struct rd_rx *rx, struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool open_frame(struct rd_rx *rx, struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool is_as_agreed(const struct rd_agreement *agreement, const struct rd_frame *frame);
static bool make_small_copy(struct rd_rx *rx, struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool hold_back(struct rd_rx *rx, const struct rd_rx_frame *rx_frame, bool *held, struct rd_error *error);
static bool out_of_place(const struct rd_frame *frame, struct rd_error *error);

bool rd_rx_begin(struct rd_rx *rx, struct rd_transport *transport, const struct rd_agreement *agreement, unsigned jobs,
                 struct rd_error *error) {
  const struct rd_hello *mine = &agreement->mine;
  *rx = (struct rd_rx){.transport = transport, .agreement = agreement};
  size_t payload_bytes =
      mine->slot_bytes > RD_CONTROL_PAYLOAD_MAX_BYTES ? mine->slot_bytes : RD_CONTROL_PAYLOAD_MAX_BYTES;
  return transport->ops->arm(transport, mine->slots + CONTROL_SLOTS, payload_bytes, error) && make_small(rx, error) &&
         make_decoder(rx, jobs, error);
}

void rd_rx_stop(struct rd_rx *rx) {
  if (rx->decoder != NULL) rd_decoder_stop(rx->decoder);
}

void rd_rx_free(struct rd_rx *rx) {
  rd_decoder_destroy(rx->decoder);
  rd_slots_free(&rx->small);
}

enum rd_outcome rd_rx_receive(struct rd_rx *rx, struct rd_rx_frame *rx_frame, struct rd_error *error) {
  for (;;) {
    bool held = false;
    enum rd_outcome taken = take_decoded(rx, rx_frame, error);
    if (taken != RD_OUTCOME_AGAIN) return taken;
    taken = take_message(rx, rx_frame, error);
    if (taken != RD_OUTCOME_DONE) return taken;
    if (!hold_back(rx, rx_frame, &held, error)) return RD_OUTCOME_FAILED;
    if (!held) return RD_OUTCOME_DONE;
  }
}

void rd_rx_give_back(struct rd_rx *rx, const struct rd_rx_frame *rx_frame) {
  if (rx_frame->is_small)
    rd_slots_give(&rx->small, rx_frame->message.slot);
  else
    rx->transport->ops->give_back(rx->transport, &rx_frame->message);
  if (rx->decoder != NULL) rd_decoder_give_back(rx->decoder, rx_frame);
}

bool rd_rx_is_working(const struct rd_rx *rx) {
  return rx->decoder != NULL && !rd_decoder_is_empty(rx->decoder);
}

void rd_rx_close(struct rd_rx *rx) {
  rx->is_closed = true;
}

// Creates as many small slots as frames are granted: any frame may be small.
static bool make_small(struct rd_rx *rx, struct rd_error *error) {
  const struct rd_hello *mine = &rx->agreement->mine;
  return mine->small_slots == 0 || rd_slots_create(&rx->small, mine->slots + mine->small_slots, RD_SMALL_BYTES, error);
}

static bool make_decoder(struct rd_rx *rx, unsigned jobs, struct rd_error *error) {
  const struct rd_agreement *agreement = rx->agreement;
  if (agreement->mine.slots == 0) return true;
  struct rd_decoder_config config = {.seal = agreement->protection != RD_PROTECTION_NONE ? agreement->incoming : NULL,
                                     .jobs = jobs,
                                     .frames = agreement->mine.slots + agreement->mine.small_slots + CONTROL_SLOTS,
                                     .slot_bytes = agreement->mine.slot_bytes};
  rx->decoder = rd_decoder_create(&config, error);
  return rx->decoder != NULL;
}

// Returns DATA that the threads have finished, then END, which waited for it.
static enum rd_outcome take_decoded(struct rd_rx *rx, struct rd_rx_frame *rx_frame, struct rd_error *error) {
  if (rx->decoder == NULL) return RD_OUTCOME_AGAIN;
  enum rd_outcome taken = rd_decoder_take(rx->decoder, rx_frame, error);
  if (taken != RD_OUTCOME_AGAIN || !rx->is_last_held || !rd_decoder_is_empty(rx->decoder)) return taken;
  rx->is_last_held = false;
  *rx_frame = rx->last;
  return RD_OUTCOME_DONE;
}

// Returns the transport's next frame; DATA is not opened yet.
static enum rd_outcome take_message(struct rd_rx *rx, struct rd_rx_frame *rx_frame, struct rd_error *error) {
  struct rd_transport *transport = rx->transport;
  *rx_frame = (struct rd_rx_frame){0};
  rx->has_more = rx->received == FRAMES_AT_ONCE;
  enum rd_outcome received =
      rx->has_more ? RD_OUTCOME_AGAIN : transport->ops->receive(transport, &rx_frame->message, error);
  rx->received = received == RD_OUTCOME_DONE ? rx->received + 1 : 0;
  if (received == RD_OUTCOME_AGAIN) transport->ops->expect_releases(transport, false); // until requested again
  if (received != RD_OUTCOME_DONE) return received;
  return open_frame(rx, rx_frame, error) ? RD_OUTCOME_DONE : RD_OUTCOME_FAILED;
}

// Opens every frame except DATA, which the decoder opens.
static bool open_frame(struct rd_rx *rx, struct rd_rx_frame *rx_frame, struct rd_error *error) {
  const struct rd_message *message = &rx_frame->message;
  struct rd_frame *frame = &rx_frame->header;
  if (!rd_frame_decode(message->data, message->bytes, frame, error)) return false;
  if (!is_as_agreed(rx->agreement, frame)) return out_of_place(frame, error);
  if (frame->type != RD_FRAME_DATA) {
    return rd_seal_open(rx->agreement->incoming, message->data, message->bytes, frame, &rx_frame->payload,
                        &rx_frame->bytes, error);
  }
  rx->wire_bytes += message->bytes;
  rx_frame->payload = message->data + RD_HEADER_BYTES;
  rx_frame->bytes = message->bytes - RD_HEADER_BYTES;
  bool is_small = rx->small.count > 0 && message->bytes <= rx->small.message_bytes;
  return !is_small || make_small_copy(rx, rx_frame, error);
}

// Returns true if the frame is protected exactly as agreed, and compressed only if that was agreed.
static bool is_as_agreed(const struct rd_agreement *agreement, const struct rd_frame *frame) {
  bool is_data = frame->type == RD_FRAME_DATA;
  unsigned must_have = is_data ? rd_protection_flag(agreement->protection) : RD_FLAG_SEALED;
  unsigned may_have = is_data && agreement->compresses ? RD_FLAG_COMPRESSED : 0u;
  return frame->type != RD_FRAME_HANDSHAKE && frame->epoch == agreement->mine.epoch &&
         (frame->flags & ~may_have) == must_have;
}

// Copies a small frame, so that its slot is free for the next one.
static bool make_small_copy(struct rd_rx *rx, struct rd_rx_frame *rx_frame, struct rd_error *error) {
  unsigned slot;
  if (!rd_slots_take(&rx->small, &slot)) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the sender exceeded its credit");
    return false;
  }
  unsigned char *copy = rd_slots_message(&rx->small, slot);
  memcpy(copy, rx_frame->message.data, rx_frame->message.bytes);
  rx->transport->ops->give_back(rx->transport, &rx_frame->message);
  rx_frame->message.data = copy;
  rx_frame->message.slot = slot;
  rx_frame->payload = copy + RD_HEADER_BYTES;
  rx_frame->is_small = true;
  return true;
}

// Sets *held if the frame has to wait, or was discarded.
static bool hold_back(struct rd_rx *rx, const struct rd_rx_frame *rx_frame, bool *held, struct rd_error *error) {
  enum rd_frame_type type = rx_frame->header.type;
  struct rd_decoder *decoder = rx->decoder;
  bool is_data = type == RD_FRAME_DATA, is_end = type == RD_FRAME_END;
  if (is_data && decoder == NULL) return out_of_place(&rx_frame->header, error);
  if ((!is_data && !is_end) || decoder == NULL) return true;
  if (rx->is_last_held) return out_of_place(&rx_frame->header, error); // END is the last frame
  if (is_end) {
    *held = !rd_decoder_is_empty(decoder);
    rx->is_last_held = *held;
    rx->last = *rx_frame;
    return true;
  }
  if (rx->is_closed) {
    *held = true;
    rd_rx_give_back(rx, rx_frame);
    return true;
  }
  *held = rx_frame->header.flags != 0 || !rd_decoder_is_empty(decoder);
  return !*held || rd_decoder_put(decoder, rx_frame, error);
}

static bool out_of_place(const struct rd_frame *frame, struct rd_error *error) {
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "unexpected frame of type %d", (int)frame->type);
  return false;
}
