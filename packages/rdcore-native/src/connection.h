// SPDX-License-Identifier: Apache-2.0
// An authenticated connection: frames instead of messages, sealed and opened as agreed, and the life signs of
// docs/protocol.md, section 1.5. Nothing here blocks; everything is called from the thread that polls.
#ifndef RD_CONNECTION_H
#define RD_CONNECTION_H

#include "handshake.h"
#include "transport.h"

#define RD_STALL_TIMEOUT_LEAST_MS 2000 // shorter, and a PING could not be answered in time
#define RD_PING_AFTER_MS 1000

struct rd_connection; // opaque

// A frame that arrived, opened. Its payload belongs to the connection until rd_connection_give_back().
struct rd_arrival {
  struct rd_frame frame;
  unsigned char *payload;
  size_t bytes;
  struct rd_message message;
};

// Takes over the transport and what the agreement holds, also when it fails. `slots` messages with payloads of up to
// `payload_bytes` can be held at a time, and a few small ones besides. `stall_timeout_ms`: RD_STALL_TIMEOUT_LEAST_MS at
// least. NULL on failure; rd_connection_destroy() frees.
struct rd_connection *rd_connection_create(struct rd_transport *transport, const struct rd_agreement *agreement,
                                           unsigned slots, size_t payload_bytes, int64_t stall_timeout_ms,
                                           struct rd_error *error);
void rd_connection_destroy(struct rd_connection *connection); // NULL-safe; wipes the keys

// Sends one frame: 1 accepted, 0 not now (try again after poll), -1 failed. The payload of a plain DATA frame must stay
// as it is until rd_connection_drained(), or until it was acknowledged; any other payload is copied.
int rd_connection_send(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                       const unsigned char *payload, size_t bytes, struct rd_error *error);
// Pushes what was accepted, as far as goes without waiting, and answers a PING.
bool rd_connection_flush(struct rd_connection *connection, struct rd_error *error);
// True when everything that was accepted is on its way and its memory is free.
bool rd_connection_drained(const struct rd_connection *connection);

// The next frame: 1 one is in *arrival, 0 none yet, -1 failed (RD_CODE_PEER_LOST, RD_CODE_DATA_DAMAGED). PING and PONG
// are dealt with inside.
int rd_connection_receive(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error);
void rd_connection_give_back(struct rd_connection *connection, const struct rd_message *message);

// Life signs: call it after every poll, when everything that had arrived was received. False: RD_CODE_PEER_STALLED.
bool rd_connection_tick(struct rd_connection *connection, struct rd_error *error);
// Milliseconds until rd_connection_tick() has something to do.
int rd_connection_timeout_ms(const struct rd_connection *connection);

// Sends a last frame, then throws away what arrives until the peer closes or says its own last frame (BYE, ABORT): so
// that the frame is read before the connection is gone. Waits, for `most_ms` at most.
void rd_connection_say_last(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                            const unsigned char *payload, size_t bytes, int64_t most_ms);

int rd_connection_poll_fd(const struct rd_connection *connection);
short rd_connection_poll_events(const struct rd_connection *connection);

// What both ends agreed on, and words for reports.
const struct rd_agreement *rd_connection_agreement(const struct rd_connection *connection);
const char *rd_connection_transport(const struct rd_connection *connection); // "tcp"
const char *rd_connection_cipher(const struct rd_connection *connection);    // of DATA: "none" when it is plain
const char *rd_connection_local(const struct rd_connection *connection);
const char *rd_connection_peer(const struct rd_connection *connection);

#endif
