// SPDX-License-Identifier: Apache-2.0
// The offer of this end for a new connection, as its HELLO: protection, compression and window.
#ifndef RD_CONN_OFFER_H
#define RD_CONN_OFFER_H

#include "crypto/handshake.h"
#include "transport/transport.h"
#include "wire/window.h"

enum rd_encrypt {
  RD_ENCRYPT_AUTO, // as RD_ENCRYPT_TCP, but plain where the peer's address is a loopback address or a path
  RD_ENCRYPT_ALWAYS,
  RD_ENCRYPT_AUTH,  // a MAC, unless the peer wants it sealed
  RD_ENCRYPT_NEVER, // plain, unless the peer wants more
  RD_ENCRYPT_TCP,   // sealed over TCP, with a MAC over RDMA
};

struct rd_hello_params {
  enum rd_role role;
  enum rd_encrypt encrypt;
  int compress_level;      // 0: none
  bool chain;              // receiver: hosts behind this one wait for what it gets
  size_t buffer_bytes;     // receiver: to grant, where the transport has the memory
  struct rd_window window; // receiver: granted for the first connection; no slots: there was none
};

// Makes the HELLO for a connection over this transport. False: the transport has no memory for a window.
bool rd_hello_params_hello(const struct rd_hello_params *offer, const struct rd_transport *transport, uint32_t epoch,
                           struct rd_hello *hello, struct rd_error *error);

#endif
