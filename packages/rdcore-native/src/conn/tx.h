// SPDX-License-Identifier: Apache-2.0
// Frames on their way out: they become messages, protected as agreed, which the transport takes one after the other.
#ifndef RD_CONN_TX_H
#define RD_CONN_TX_H

#include "codec/encoder.h"
#include "crypto/handshake.h"
#include "transport/registered.h"

struct rd_outgoing; // opaque

struct rd_tx {
  struct rd_transport *transport;
  struct rd_seal *seal;
  uint32_t epoch;
  size_t data_most_bytes; // the largest payload of DATA

  struct rd_outgoing *outgoing; // a ring of what messages begin with, and of small ones
  uint64_t accepted;            // messages, by the transport
  uint64_t wire_bytes;          // of DATA frames
  // A message that was sealed, and so has its place in the sequence, but that the transport would not take yet.
  struct iovec staged[2];
  bool is_staged;
  // DATA that is compressed or protected here; NULL: it goes as it is.
  struct rd_encoder *encoder;
  unsigned char *scratch; // of its frames
  bool is_closed;
};

// What the agreement holds stays the caller's. DATA is compressed by `compress_level` (0: not at all), where the peer
// can take it, on `jobs` threads. Also after a failure it is to be stopped and freed, and not before.
bool rd_tx_begin(struct rd_tx *tx, struct rd_registered *registered, const struct rd_agreement *agreement,
                 int compress_level, unsigned jobs, struct rd_error *error);
// Threads end first; then the transport, which uses the memory, is destroyed; then it is freed. Also of all zeros.
void rd_tx_stop(struct rd_tx *tx);
void rd_tx_free(struct rd_tx *tx);

// What they take of the memory that a transport's device may use, whatever the window.
size_t rd_tx_own_bytes(void);

// Sends one frame; see rd_connection_send().
enum rd_outcome rd_tx_send(struct rd_tx *tx, enum rd_frame_type type, uint64_t offset, const unsigned char *payload,
                           size_t bytes, struct rd_error *error);
// Hands what is ready to the transport.
bool rd_tx_offer(struct rd_tx *tx, struct rd_error *error);
// Is everything that was accepted on its way, and its memory free?
bool rd_tx_is_drained(const struct rd_tx *tx);
// Has everything that was accepted gone, and is DATA with the threads?
bool rd_tx_is_working(const struct rd_tx *tx);
// No DATA goes out any more.
void rd_tx_close(struct rd_tx *tx);

#endif
