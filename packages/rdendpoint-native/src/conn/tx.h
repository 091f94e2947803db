// SPDX-License-Identifier: Apache-2.0
// The sending direction of a connection: frames become protected messages for the transport.
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

  struct rd_outgoing *outgoing; // a ring of headers, and of small messages
  uint64_t accepted;            // messages, by the transport
  uint64_t wire_bytes;          // of DATA frames
  // A sealed message, with its place in the sequence, that the transport did not accept yet.
  struct iovec staged[2];
  bool is_staged;
  // Compresses and protects DATA; NULL: it is sent as it is.
  struct rd_encoder *encoder;
  unsigned char *scratch; // of the encoder
  bool is_closed;
};

// The agreement's seals remain the caller's. DATA is compressed by `compress_level` (0: not at all) where the peer
// accepts it, on `jobs` threads. After success or failure it must be stopped and freed.
bool rd_tx_begin(struct rd_tx *tx, struct rd_registered *registered, const struct rd_agreement *agreement,
                 int compress_level, unsigned jobs, struct rd_error *error);
// Stop the threads, destroy the transport, which uses the memory, then free it. All zeros are allowed.
void rd_tx_stop(struct rd_tx *tx);
void rd_tx_free(struct rd_tx *tx);

// The registered memory that it needs itself, whatever the window.
size_t rd_tx_own_bytes(void);

// Sends one frame; see rd_connection_send().
enum rd_outcome rd_tx_send(struct rd_tx *tx, enum rd_frame_type type, uint64_t offset, const unsigned char *payload,
                           size_t bytes, struct rd_error *error);
// Hands what is ready to the transport.
bool rd_tx_offer(struct rd_tx *tx, struct rd_error *error);
// Whether all accepted frames are on their way and their memory is free.
bool rd_tx_is_drained(const struct rd_tx *tx);
// Whether DATA is with the threads while the transport has released all messages.
bool rd_tx_is_working(const struct rd_tx *tx);
// Sends no further DATA.
void rd_tx_close(struct rd_tx *tx);

#endif
