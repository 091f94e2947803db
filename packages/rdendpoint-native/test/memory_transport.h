// SPDX-License-Identifier: Apache-2.0
// Two ends of a connection in memory, with faults that a test asks for.
#ifndef RD_MEMORY_TRANSPORT_H
#define RD_MEMORY_TRANSPORT_H

#include "transport/transport.h"

// Faults that tests ask for; zero for none. They count the messages that ends[0] sends, from 1.
struct rd_mem_faults {
  unsigned refuse_every;    // every nth send() returns AGAIN once
  unsigned corrupt_message; // one bit of this message is flipped
  unsigned close_after;     // the connection is lost after this many messages
  unsigned queue_messages;  // how many messages may be in transit; 0: 16
  size_t memory_bytes;      // memory limit of either end, like a device's; 0: no limit
};
// Creates two ends joined in memory; each may be used by its own thread. `faults` may be NULL. Returns false on
// failure.
bool rd_mem_pair(const struct rd_mem_faults *faults, struct rd_transport *ends[2], struct rd_error *error);

#endif
