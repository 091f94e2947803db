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

// All zeros except the slots, which belong to the transport: several sockets may share them.
struct rd_tcp_receive {
  struct rd_slots *slots;
  bool is_numbered; // each length has a number in its upper bits
  struct rd_tcp_incoming current;
  struct rd_tcp_incoming next; // its head is read together with the end of the current message
  // Bytes that were read before their message's length was known: one read gets many small messages.
  unsigned char early[RD_TCP_EARLY_BYTES];
  size_t early_at, early_bytes; // not yet copied into a slot
  bool quiet;                   // there are no more bytes, until rd_tcp_receive_next() returns AGAIN
};

// From now on uses these slots, of which at least one is free, and moves the received part of the next message there.
// Returns false, with the old slots still in use, if a message was not given back or does not fit.
bool rd_tcp_receive_use(struct rd_tcp_receive *receive, struct rd_slots *slots, struct rd_error *error);
// Implements the transport's receive(), for a socket whose other end is `peer`. *number: that of the message; 0 without
// numbers.
enum rd_outcome rd_tcp_receive_next(struct rd_tcp_receive *receive, int fd, const char *peer,
                                    struct rd_message *message, unsigned *number, struct rd_error *error);
// Return true if it can take a message; if it has bytes for which the socket is not readable.
bool rd_tcp_receive_has_slot(const struct rd_tcp_receive *receive);
bool rd_tcp_receive_has_early(const struct rd_tcp_receive *receive);

// Sets the error of a connection to `peer` that ended, according to errno: it was closed or reset, or the peer does not
// answer.
void rd_tcp_explain_end(const char *peer, struct rd_error *error);

#endif
