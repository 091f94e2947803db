// SPDX-License-Identifier: Apache-2.0
// The receiving half of a TCP connection: splits the stream into messages, each in a slot.
#ifndef RD_TRANSPORT_TCP_RECEIVE_H
#define RD_TRANSPORT_TCP_RECEIVE_H

#include "transport/transport.h"
#include "wire/slots.h"

#define RD_TCP_EARLY_BYTES 4096

struct rd_tcp_incoming {
  bool begun; // it has a slot
  unsigned slot;
  size_t bytes; // received so far, including its length field
};

// All zeros except the slots, which the transport creates with rd_slots_create_early() and frees.
struct rd_tcp_receive {
  struct rd_slots slots;
  struct rd_tcp_incoming current;
  struct rd_tcp_incoming next; // its head is read together with the end of the current message
  // Bytes that were read before their message's length was known: one read gets many small messages.
  unsigned char early[RD_TCP_EARLY_BYTES];
  size_t early_at, early_bytes; // not yet copied into a slot
  bool quiet;                   // there are no more bytes, until rd_tcp_receive_next() returns AGAIN
};

// Implements the transport's arm().
bool rd_tcp_receive_arm(struct rd_tcp_receive *receive, unsigned slots, size_t payload_bytes, struct rd_error *error);
// Implements the transport's receive(), for a socket whose other end is `peer`.
enum rd_outcome rd_tcp_receive_next(struct rd_tcp_receive *receive, int fd, const char *peer,
                                    struct rd_message *message, struct rd_error *error);
// Return true if it can take a message; if it has bytes for which the socket is not readable.
bool rd_tcp_receive_has_slot(const struct rd_tcp_receive *receive);
bool rd_tcp_receive_has_early(const struct rd_tcp_receive *receive);

// Sets the error of a connection to `peer` that ended, according to errno: it was closed or reset, or the peer does not
// answer.
void rd_tcp_explain_end(const char *peer, struct rd_error *error);

#endif
