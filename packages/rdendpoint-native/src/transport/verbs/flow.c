// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/flow.h"

#include "base/bytes.h"
#include "wire/wire.h"

static bool is_possible(const struct rd_verbs_flow *flow, const struct rd_verbs_preamble *preamble);
static uint32_t small_left(const struct rd_verbs_flow *flow);
static uint32_t large_left(const struct rd_verbs_flow *flow);

void rd_verbs_preamble_encode(const struct rd_verbs_preamble *preamble, unsigned char out[RD_VERBS_PREAMBLE_BYTES]) {
  rd_put_u32(out, preamble->message);
  rd_put_u32(out + 4, preamble->small_posted);
  rd_put_u32(out + 8, preamble->large_posted);
  rd_put_u32(out + 12, preamble->large_bytes);
}

void rd_verbs_preamble_decode(const unsigned char bytes[RD_VERBS_PREAMBLE_BYTES], struct rd_verbs_preamble *preamble) {
  *preamble = (struct rd_verbs_preamble){
      .message = rd_get_u32(bytes),
      .small_posted = rd_get_u32(bytes + 4),
      .large_posted = rd_get_u32(bytes + 8),
      .large_bytes = rd_get_u32(bytes + 12),
  };
}

void rd_verbs_flow_init(struct rd_verbs_flow *flow) {
  const struct rd_verbs_preamble beginning = {.small_posted = RD_VERBS_SMALL_BUFFERS};
  *flow = (struct rd_verbs_flow){.ours = beginning, .announced = beginning, .peers = beginning};
}

void rd_verbs_flow_post_small(struct rd_verbs_flow *flow) {
  flow->ours.small_posted++;
}

void rd_verbs_flow_post_large(struct rd_verbs_flow *flow, uint32_t bytes) {
  flow->ours.large_posted++;
  flow->ours.large_bytes = bytes;
}

void rd_verbs_flow_announce(struct rd_verbs_flow *flow, uint32_t message, struct rd_verbs_preamble *preamble) {
  flow->announced = flow->ours;
  *preamble = flow->ours;
  preamble->message = message;
}

bool rd_verbs_flow_is_due(const struct rd_verbs_flow *flow, uint32_t circulating) {
  uint32_t small = flow->ours.small_posted - flow->announced.small_posted;
  uint32_t large = flow->ours.large_posted - flow->announced.large_posted;
  return (small + large) * 2 >= circulating && small + large > 0;
}

bool rd_verbs_flow_take(struct rd_verbs_flow *flow, const struct rd_verbs_preamble *preamble, struct rd_error *error) {
  if (is_possible(flow, preamble)) {
    flow->peers = *preamble;
    return true;
  }
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent invalid buffer counts");
  return false;
}

// Counts never decrease, and the number of posted and unused buffers is bounded; once there are large buffers, no small
// one is added.
static bool is_possible(const struct rd_verbs_flow *flow, const struct rd_verbs_preamble *preamble) {
  const struct rd_verbs_preamble *before = &flow->peers;
  uint32_t new_small = preamble->small_posted - before->small_posted;
  uint32_t new_large = preamble->large_posted - before->large_posted;
  if (preamble->small_posted - flow->small_used > RD_VERBS_SMALL_BUFFERS || new_small > RD_VERBS_SMALL_BUFFERS)
    return false;
  if (preamble->large_posted - flow->large_used > RD_VERBS_LARGE_BUFFERS_MAX || new_large > RD_VERBS_LARGE_BUFFERS_MAX)
    return false;
  if (before->large_bytes != 0) return new_small == 0 && preamble->large_bytes == before->large_bytes;
  if (new_large == 0) return preamble->large_bytes == 0;
  return preamble->large_bytes >= RD_HEADER_BYTES &&
         preamble->large_bytes <= RD_HEADER_BYTES + RD_SLOT_MAX_BYTES + RD_TAG_BYTES;
}

bool rd_verbs_flow_has_buffer(const struct rd_verbs_flow *flow, bool with_message) {
  return small_left(flow) + large_left(flow) > (with_message ? 1u : 0u);
}

size_t rd_verbs_flow_room_bytes(const struct rd_verbs_flow *flow) {
  return small_left(flow) > 0 ? RD_VERBS_SMALL_BUFFER_BYTES : flow->peers.large_bytes;
}

void rd_verbs_flow_spend(struct rd_verbs_flow *flow) {
  if (small_left(flow) > 0)
    flow->small_used++;
  else
    flow->large_used++;
}

static uint32_t small_left(const struct rd_verbs_flow *flow) {
  return flow->peers.small_posted - flow->small_used;
}

static uint32_t large_left(const struct rd_verbs_flow *flow) {
  return flow->peers.large_posted - flow->large_used;
}
