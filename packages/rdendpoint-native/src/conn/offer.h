// SPDX-License-Identifier: Apache-2.0
// This end's offer for a new connection, sent as its HELLO: protection, compression and window.
#ifndef RD_CONN_OFFER_H
#define RD_CONN_OFFER_H

#include "crypto/handshake.h"
#include "transport/transport.h"
#include "wire/window.h"

enum rd_encrypt {
  RD_ENCRYPT_AUTO, // like RD_ENCRYPT_TCP, but unprotected if the peer's address is a loopback address or a path
  RD_ENCRYPT_ALWAYS,
  RD_ENCRYPT_AUTH,  // a MAC, unless the peer wants DATA sealed
  RD_ENCRYPT_NEVER, // unprotected, unless the peer wants more
  RD_ENCRYPT_TCP,   // sealed over TCP, with a MAC over RDMA
};

struct rd_hello_params {
  enum rd_role role;
  enum rd_encrypt encrypt;
  int compress_level;      // 0: none
  bool chain;              // receiver: hosts further down the chain wait for its data
  size_t buffer_bytes;     // of each lane; a receiver grants as much, if the transport has the memory
  unsigned lanes;          // the most; 0: what the path needs
  struct rd_window window; // receiver: as granted for the first connection; no slots: there was none
};

// Fills in the HELLO for a connection over this transport. Returns false if the transport has no memory for a window.
bool rd_hello_params_hello(const struct rd_hello_params *offer, const struct rd_transport *transport, uint32_t epoch,
                           struct rd_hello *hello, struct rd_error *error);

#endif
