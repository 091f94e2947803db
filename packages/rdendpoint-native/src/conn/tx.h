// SPDX-License-Identifier: Apache-2.0
// The sending direction of a connection: turns frames into protected messages for the transport.
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

  struct rd_outgoing *outgoing; // a ring of headers and small messages
  uint64_t accepted;            // number of messages that the transport has accepted
  uint64_t wire_bytes;          // of DATA frames
  // A sealed message, whose sequence number is fixed, that the transport has not accepted yet.
  struct iovec staged[2];
  bool is_staged;
  // Compresses and protects DATA; NULL: DATA is sent unchanged.
  struct rd_encoder *encoder;
  unsigned char *scratch; // the encoder's
  bool is_closed;
};

// The agreement's seals remain the caller's. DATA is compressed with `compress_level` (0: not at all) if the peer
// accepts it, on `jobs` threads. Call rd_tx_stop() and rd_tx_free() after success and after failure.
bool rd_tx_begin(struct rd_tx *tx, struct rd_registered *registered, const struct rd_agreement *agreement,
                 int compress_level, unsigned jobs, struct rd_error *error);
// rd_tx_stop() stops the threads; then destroy the transport, which uses the memory; then call rd_tx_free(). All zeros
// are allowed.
void rd_tx_stop(struct rd_tx *tx);
void rd_tx_free(struct rd_tx *tx);

// Returns how much registered memory it needs itself, whatever the window.
size_t rd_tx_own_bytes(void);

// Sends one frame; see rd_connection_send().
enum rd_outcome rd_tx_send(struct rd_tx *tx, enum rd_frame_type type, uint64_t offset, const unsigned char *payload,
                           size_t bytes, struct rd_error *error);
// Passes messages that are ready to the transport.
bool rd_tx_offer(struct rd_tx *tx, struct rd_error *error);
// Returns true if all accepted frames were sent and their memory is free.
bool rd_tx_is_drained(const struct rd_tx *tx);
// Returns true if the threads are working on DATA and the transport has released all messages.
bool rd_tx_is_working(const struct rd_tx *tx);
// Sends no further DATA.
void rd_tx_close(struct rd_tx *tx);

#endif
