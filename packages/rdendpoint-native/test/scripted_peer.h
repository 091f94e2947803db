// SPDX-License-Identifier: Apache-2.0
// A peer that holds the key and sends whatever a test suite wants.
#ifndef RD_SCRIPTED_PEER_H
#define RD_SCRIPTED_PEER_H

#include "base/io.h"
#include "base/protocol_version.h"
#include "conn/connection.h"
#include "conn/pending.h"
#include "test.h"

#include <string.h>

// By their names in --encrypt.
static const char *const protection_words[] = {"never", "auth", "always"};

static inline struct rd_identity scripted_peer_identity(void) {
  static unsigned char key[RD_KEY_BYTES];
  memset(key, 7, sizeof key);
  return (struct rd_identity){.key = key, .run = "test", .hop = 1};
}

// Begins the handshake; a sender is the dialer.
static inline struct rd_pending *begin_to_shake(struct rd_transport *transport, enum rd_role role,
                                                struct rd_hello mine) {
  struct rd_error error;
  struct rd_identity identity = scripted_peer_identity();
  mine.version = RD_PROTOCOL_VERSION;
  mine.epoch = 1;
  struct rd_pending *pending =
      rd_pending_create(transport, &identity, role, role == RD_ROLE_SENDER, &mine, rd_now_ms() + WAIT_MS, &error);
  REQUIRE(pending != NULL);
  return pending;
}

// Takes the connection of a pending connection whose handshake is done; a sender still has to choose it.
static inline struct rd_connection *take_connection(struct rd_pending *pending) {
  struct rd_error error;
  struct rd_transport *transport;
  struct rd_agreement agreement;
  rd_pending_take(pending, &transport, &agreement);
  rd_pending_destroy(pending);
  struct rd_connection_settings settings = {.stall_timeout_ms = WAIT_MS};
  struct rd_connection *connection = rd_connection_create(transport, &agreement, &settings, &error);
  REQUIRE(connection != NULL);
  return connection;
}

static inline struct rd_connection *shake_hands(struct rd_transport *transport, enum rd_role role,
                                                struct rd_hello mine) {
  struct rd_error error;
  struct rd_pending *pending = begin_to_shake(transport, role, mine);
  int serviced;
  while ((serviced = rd_pending_service(pending, &error)) == 0) {
    struct pollfd poll_for = rd_pending_poll(pending);
    rd_wait_fd(poll_for.fd, poll_for.events, 100);
  }
  REQUIRE(serviced == 1);
  return take_connection(pending);
}

static inline void say(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset, const void *payload,
                       size_t bytes) {
  int sent;
  struct rd_error ignored;
  while ((sent = rd_connection_send(connection, type, offset, payload, bytes, &ignored)) == 0) continue;
  // The other end may have closed already.
  if (sent > 0) (void)rd_connection_flush(connection, &ignored);
}

#endif
