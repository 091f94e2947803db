// SPDX-License-Identifier: Apache-2.0
// An authenticated connection: frames instead of messages, sealed and opened as agreed, and the keepalive of
// docs/protocol.md, section 1.5. Nothing here blocks; everything is called from the thread that polls.
#ifndef RD_CONN_CONNECTION_H
#define RD_CONN_CONNECTION_H

#include "codec/decoder.h"
#include "crypto/handshake.h"
#include "transport/transport.h"

#define RD_STALL_TIMEOUT_LEAST_MS 2000 // shorter, and a PING could not be answered in time

struct rd_connection; // opaque

struct rd_connection_settings {
  int64_t stall_timeout_ms; // RD_STALL_TIMEOUT_LEAST_MS at least
  bool poll;                // the transport was made so
  int compress_level;       // of a sender; 0: none
  unsigned jobs;            // threads for compression and encryption; 0: as many as there are processors
};

// Takes over the transport and what the agreement holds, also when it fails. What this end's HELLO granted can be held
// at a time, and a few small frames besides. NULL on failure; rd_connection_destroy() frees.
struct rd_connection *rd_connection_create(struct rd_transport *transport, const struct rd_agreement *agreement,
                                           const struct rd_connection_settings *settings, struct rd_error *error);
void rd_connection_destroy(struct rd_connection *connection); // NULL-safe; wipes the keys

// Closes the connection, and gives the device's memory back; frames that were not given back stay as they are. It can
// then only be destroyed.
void rd_connection_disconnect(struct rd_connection *connection);

// How much receive memory a window may need over this transport: what the device may use, but for the connection's own.
size_t rd_connection_window_most_bytes(const struct rd_transport *transport);

// Of this connection among the hop's, from 1.
uint32_t rd_connection_epoch(const struct rd_connection *connection);
// Milliseconds since anything came from the peer.
int64_t rd_connection_silent_ms(const struct rd_connection *connection);

// This process was stopped: the silence meanwhile says nothing of the peer.
void rd_connection_resumed(struct rd_connection *connection);

// The sender's first word: it takes this connection. Its round trip is measured, and that of a few more after it.
void rd_connection_choose(struct rd_connection *connection);
// The shortest round trip so far, in microseconds; 0: none yet.
uint32_t rd_connection_rtt_us(const struct rd_connection *connection);

// What DATA frames, with their headers and tags, took on the wire so far.
uint64_t rd_connection_wire_bytes(const struct rd_connection *connection);
// Is DATA with the threads while the wire has nothing else to do, and nothing to receive is ready?
bool rd_connection_is_working(const struct rd_connection *connection);

// DATA: the largest payload that can be sent, and how much memory may be registered to send it from (SIZE_MAX: there is
// no limit).
size_t rd_connection_data_most_bytes(const struct rd_connection *connection);
size_t rd_connection_register_most_bytes(const struct rd_connection *connection);
// Makes memory known from which DATA will be sent. It must stay until the connection is destroyed.
bool rd_connection_register(struct rd_connection *connection, const void *memory, size_t bytes, struct rd_error *error);

// Sends one frame. AGAIN: try again after poll. The payload of a DATA frame must stay as it is until
// rd_connection_drained(), or until it was acknowledged; any other payload is copied. END waits for all DATA before it;
// other frames may overtake DATA that is being compressed or sealed.
enum rd_outcome rd_connection_send(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                                   const unsigned char *payload, size_t bytes, struct rd_error *error);
// Pushes what was accepted, as far as goes without waiting, and answers a PING.
bool rd_connection_flush(struct rd_connection *connection, struct rd_error *error);
// True when everything that was accepted is on its way and its memory is free; else the descriptor tells when it may
// be, until rd_connection_receive() gives RD_OUTCOME_AGAIN.
bool rd_connection_drained(struct rd_connection *connection);

// The next frame. AGAIN: none yet, or enough for now; wait for rd_connection_timeout_ms() at most. FAILED:
// RD_CODE_PEER_LOST, RD_CODE_DATA_DAMAGED. PING and PONG are dealt with inside.
enum rd_outcome rd_connection_receive(struct rd_connection *connection, struct rd_rx_frame *rx_frame,
                                      struct rd_error *error);
// The frame's payload, of an frame that was received, belongs to the connection again.
void rd_connection_give_back(struct rd_connection *connection, const struct rd_rx_frame *rx_frame);
// The descriptor was just polled, and told nothing.
void rd_connection_quiet(struct rd_connection *connection);

// Keepalive: call it after every poll, when everything that had arrived was received. False: RD_CODE_PEER_STALLED.
bool rd_connection_tick(struct rd_connection *connection, struct rd_error *error);
// Milliseconds until rd_connection_tick() has something to do, or the connection wants to be asked again.
int rd_connection_timeout_ms(const struct rd_connection *connection);

// Sends a last frame, then throws away what arrives until the peer closes or says its own last frame (BYE, ABORT): so
// that the frame is read before the connection is gone. Waits, for `most_ms` at most. False: the connection ended
// before the peer's last frame, and *error says how.
bool rd_connection_send_final(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                              const unsigned char *payload, size_t bytes, int64_t most_ms, struct rd_error *error);

int rd_connection_poll_fd(const struct rd_connection *connection);
short rd_connection_poll_events(const struct rd_connection *connection);
// A second descriptor: readable when threads have something done; -1: there are none.
int rd_connection_work_fd(const struct rd_connection *connection);
void rd_connection_worked(struct rd_connection *connection); // it was readable

// What both ends agreed on, and words for reports.
const struct rd_agreement *rd_connection_agreement(const struct rd_connection *connection);
const char *rd_connection_transport(const struct rd_connection *connection); // "tcp"
const char *rd_connection_cipher(const struct rd_connection *connection);    // of DATA; "none" when it is plain
const char *rd_connection_local(const struct rd_connection *connection);
const char *rd_connection_peer(const struct rd_connection *connection);
const char *rd_connection_device(const struct rd_connection *connection); // "mlx5_0"; NULL: none

#endif
