// SPDX-License-Identifier: Apache-2.0
// The receiving half of a TCP connection: the stream is cut into messages, each in a slot.
#ifndef RD_TRANSPORT_TCP_RECEIVE_H
#define RD_TRANSPORT_TCP_RECEIVE_H

#include "transport/transport.h"
#include "wire/slots.h"

#define RD_TCP_EARLY_BYTES 4096

struct rd_tcp_incoming {
  bool begun; // it has a slot
  unsigned slot;
  size_t bytes; // received, of its length and itself
};

// All zeros but the slots, which the transport makes by rd_slots_create_early() and frees.
struct rd_tcp_receive {
  struct rd_slots slots;
  struct rd_tcp_incoming current;
  struct rd_tcp_incoming next; // its head is read together with the end of the current one
  // Bytes that were read before their message's length was known: one call reads many small messages.
  unsigned char early[RD_TCP_EARLY_BYTES];
  size_t early_at, early_bytes; // not yet copied into a slot
  bool quiet;                   // no more bytes are there, until rd_tcp_receive_next() gives AGAIN
};

// As the transport's arm().
bool rd_tcp_receive_arm(struct rd_tcp_receive *receive, unsigned slots, size_t payload_bytes, struct rd_error *error);
// As the transport's receive(), from a socket whose other end is `peer`.
enum rd_outcome rd_tcp_receive_next(struct rd_tcp_receive *receive, int fd, const char *peer,
                                    struct rd_message *message, struct rd_error *error);
// Whether it can take a message, and whether it has bytes that the socket is not readable for.
bool rd_tcp_receive_has_slot(const struct rd_tcp_receive *receive);
bool rd_tcp_receive_has_early(const struct rd_tcp_receive *receive);

// The error of a connection to `peer` that ended, by errno: it was closed or reset, or the peer does not answer.
void rd_tcp_explain_end(const char *peer, struct rd_error *error);

#endif
