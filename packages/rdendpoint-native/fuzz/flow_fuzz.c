// SPDX-License-Identifier: Apache-2.0
// The buffer counts that an RDMA peer sends with every SEND, mixed with SENDs of this end.
#include "fuzz.h"
#include "transport/verbs/flow.h"
#include "wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = {data, size};
  struct rd_verbs_flow flow;
  struct rd_error error;
  rd_verbs_flow_init(&flow);
  while (input.left > 0) {
    const uint8_t *bytes;
    struct rd_verbs_preamble preamble;
    // Sends a few SENDs, as far as the peer has buffers.
    for (unsigned sends = fuzz_u8(&input); sends > 0 && rd_verbs_flow_has_buffer(&flow, true); sends--) {
      FUZZ_REQUIRE(rd_verbs_flow_room_bytes(&flow) >= RD_HEADER_BYTES);
      FUZZ_REQUIRE(rd_verbs_flow_room_bytes(&flow) <= RD_HEADER_BYTES + RD_SLOT_MAX_BYTES + RD_TAG_BYTES);
      rd_verbs_flow_spend(&flow);
    }
    if (fuzz_take(&input, RD_VERBS_PREAMBLE_BYTES, &bytes) < RD_VERBS_PREAMBLE_BYTES) break;
    rd_verbs_preamble_decode(bytes, &preamble);
    if (!rd_verbs_flow_take(&flow, &preamble, &error)) break;
    FUZZ_REQUIRE(flow.peers.small_posted - flow.small_used <= RD_VERBS_SMALL_BUFFERS);
    FUZZ_REQUIRE(flow.peers.large_posted - flow.large_used <= RD_VERBS_LARGE_BUFFERS_MAX);
  }
  return 0;
}
