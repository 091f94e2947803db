// SPDX-License-Identifier: Apache-2.0
#include "downstream.h"

#include "wire/window.h"

static size_t relay_bytes(const struct rd_settings *settings, unsigned lanes);

void rd_downstream_clear(struct rd_downstream *downstream) {
  rd_relay_destroy(downstream->relay);
  downstream->relay = NULL;
}

bool rd_downstream_join(struct rd_downstream *downstream, const struct rd_command *command, struct rd_error *error) {
  rd_relay_destroy(downstream->relay);
  downstream->relay = rd_relay_open(RD_ROLE_RECEIVER, command->ring_fds, error);
  return downstream->relay != NULL;
}

bool rd_downstream_attach(struct rd_downstream *downstream, const struct rd_settings *settings, unsigned lanes,
                          struct rd_error *error) {
  downstream->enough_bytes = settings->chain ? (size_t)settings->buffer / 8 : 0;
  return downstream->relay == NULL ||
         rd_shared_ring_make(rd_relay_shared(downstream->relay), relay_bytes(settings, lanes), error);
}

bool rd_downstream_pass_on(struct rd_downstream *downstream, const struct rd_rx_frame *rx_frame,
                           struct rd_error *error) {
  if (!rd_downstream_is_wanted(downstream)) return true;
  struct rd_ring *ring = rd_relay_ring(downstream->relay, error);
  uint64_t filled = rd_ring_filled(ring), begin = rx_frame->header.offset, end = begin + rx_frame->bytes;
  if (end <= filled) return true;
  size_t known = (size_t)(filled - begin);
  if (!rd_ring_put(ring, rx_frame->payload + known, rx_frame->bytes - known)) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the sender exceeded its credit");
    return false;
  }
  rd_shared_ring_tell(rd_relay_shared(downstream->relay));
  return true;
}

void rd_downstream_end(struct rd_downstream *downstream, const struct rd_end *end) {
  if (downstream->relay != NULL) rd_relay_end(downstream->relay, end);
}

bool rd_downstream_is_full(const struct rd_downstream *downstream, const struct rd_credit *credit, size_t slot_bytes) {
  struct rd_error ignored;
  if (!rd_downstream_is_wanted(downstream)) return false;
  uint64_t may_come = credit->slots + credit->frames + 1 - credit->arrived;
  return rd_ring_room(rd_relay_ring(downstream->relay, &ignored)) <
         may_come * slot_bytes + (size_t)RD_SMALL_SLOTS * RD_SMALL_BYTES;
}

bool rd_downstream_is_wanted(const struct rd_downstream *downstream) {
  if (downstream->relay == NULL) return false;
  enum rd_behind behind = rd_relay_behind(downstream->relay);
  return behind == RD_BEHIND_OPEN || behind == RD_BEHIND_DONE;
}

bool rd_downstream_is_settled(const struct rd_downstream *downstream) {
  return downstream->relay == NULL || rd_relay_behind(downstream->relay) != RD_BEHIND_OPEN;
}

uint64_t rd_downstream_reached(const struct rd_downstream *downstream, uint64_t consumed) {
  struct rd_error ignored;
  if (rd_downstream_is_settled(downstream)) return consumed;
  uint64_t behind = rd_ring_released(rd_relay_ring(downstream->relay, &ignored));
  return behind < consumed ? behind : consumed;
}

bool rd_downstream_is_ack_due(const struct rd_downstream *downstream, uint64_t reached, uint64_t acknowledged,
                              uint64_t received) {
  if (downstream->enough_bytes == 0 || reached <= acknowledged) return false;
  return reached == received || reached - acknowledged >= downstream->enough_bytes;
}

bool rd_downstream_has_news(struct rd_downstream *downstream, struct pollfd *poll) {
  struct rd_error ignored;
  struct rd_ring *ring = downstream->relay != NULL ? rd_relay_ring(downstream->relay, &ignored) : NULL;
  if (ring == NULL) return false;
  struct rd_shared_ring *shared = rd_relay_shared(downstream->relay);
  *poll = (struct pollfd){.fd = rd_shared_ring_poll_fd(shared), .events = POLLIN};
  rd_shared_ring_expect_news(shared);
  uint64_t released = rd_ring_released(ring);
  enum rd_behind behind = rd_relay_behind(downstream->relay);
  bool news = released != downstream->released_seen || behind != downstream->behind_seen;
  downstream->released_seen = released;
  downstream->behind_seen = behind;
  return news;
}

void rd_downstream_woken(struct rd_downstream *downstream) {
  rd_shared_ring_woken(rd_relay_shared(downstream->relay));
}

// Besides the ring that the downstream hosts read from, there must be space for a window.
static size_t relay_bytes(const struct rd_settings *settings, unsigned lanes) {
  size_t buffer_bytes = rd_window_buffer_bytes((size_t)settings->buffer, lanes);
  size_t window_bytes = buffer_bytes + (size_t)RD_SMALL_SLOTS * RD_SMALL_BYTES;
  return window_bytes + rd_window_ring_bytes(window_bytes, settings->behind);
}
