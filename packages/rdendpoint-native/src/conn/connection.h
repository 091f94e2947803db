// SPDX-License-Identifier: Apache-2.0
// An authenticated connection: frames over a transport, protected as agreed, and the keepalive.
// See docs/protocol/wire.md, section 1.5. Nothing here blocks; call everything from the thread that polls.
#ifndef RD_CONN_CONNECTION_H
#define RD_CONN_CONNECTION_H

#include "codec/decoder.h"
#include "crypto/handshake.h"
#include "transport/transport.h"

struct rd_connection; // opaque

struct rd_connection_settings {
  int64_t stall_timeout_ms;
  bool poll;          // the transport was created with `poll`
  int compress_level; // sender only; 0: no compression
  unsigned jobs;      // threads for compression and encryption; 0: one per CPU, at most 8
  bool congestion;    // may choose the congestion control of TCP on a long path
};

// Takes ownership of the transport and of the agreement's seals, even on failure. The caller may hold as many received
// frames at once as this end's HELLO granted, plus a few small ones. NULL on failure; free with
// rd_connection_destroy().
struct rd_connection *rd_connection_create(struct rd_transport *transport, const struct rd_agreement *agreement,
                                           const struct rd_connection_settings *settings, struct rd_error *error);
void rd_connection_destroy(struct rd_connection *connection); // accepts NULL; wipes the keys

// Closes the connection and releases the device; frames that were not given back stay valid. Afterwards only
// rd_connection_destroy() may be called.
void rd_connection_disconnect(struct rd_connection *connection);

// Returns how much receive memory a window may use over this transport: the device's limit minus the connection's own
// memory.
size_t rd_connection_window_most_bytes(const struct rd_transport *transport);

// Returns the number of this connection among the hop's connections, from 1.
uint32_t rd_connection_epoch(const struct rd_connection *connection);
// Milliseconds since the last bytes from the peer.
int64_t rd_connection_silent_ms(const struct rd_connection *connection);

// This process was stopped: do not count the silence during that time against the peer.
void rd_connection_resumed(struct rd_connection *connection);

// Adds a lane to the connection (see transport.h). Takes ownership of it; a lane that cannot be added is dropped, and
// false returned.
bool rd_connection_join(struct rd_connection *connection, struct rd_transport *lane);

// The sender chooses this connection by its first PING. The round trips of this PING and of a few more are measured.
void rd_connection_choose(struct rd_connection *connection);
// The shortest round trip so far, in microseconds; 0 if there was none yet.
uint32_t rd_connection_rtt_us(const struct rd_connection *connection);

// The limits that the rate has met so far.
void rd_connection_limits(const struct rd_connection *connection, struct rd_limits *limits);

// The bytes of DATA frames on the wire so far, including headers and tags.
uint64_t rd_connection_wire_bytes(const struct rd_connection *connection);
// Returns true if the threads are working on DATA while nothing waits for the wire and no received frame is ready.
bool rd_connection_is_working(const struct rd_connection *connection);

// The largest payload of a DATA frame, and how much memory may be registered to send from (SIZE_MAX: no limit).
size_t rd_connection_data_most_bytes(const struct rd_connection *connection);
size_t rd_connection_register_most_bytes(const struct rd_connection *connection);
// Registers memory that DATA will be sent from. It must stay valid until the connection is destroyed.
bool rd_connection_register(struct rd_connection *connection, const void *memory, size_t bytes, struct rd_error *error);

// Sends one frame. AGAIN: try again after poll. The payload of a DATA frame must not change until it is acknowledged or
// rd_connection_drained() returns true; other payloads are copied. END waits for all DATA before it; other frames may
// overtake DATA that is being compressed or sealed.
enum rd_outcome rd_connection_send(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                                   const unsigned char *payload, size_t bytes, struct rd_error *error);
// Sends accepted frames as far as possible without waiting, and answers a PING.
bool rd_connection_flush(struct rd_connection *connection, struct rd_error *error);
// Returns true if all accepted frames were sent and their memory is free. After false the descriptor becomes ready when
// that may have changed, until rd_connection_receive() returns AGAIN.
bool rd_connection_drained(struct rd_connection *connection);

// Returns the next frame. AGAIN: none yet, or enough for now; wait for rd_connection_timeout_ms() at most. FAILED:
// RD_CODE_PEER_LOST, RD_CODE_DATA_DAMAGED. Handles PING and PONG itself.
enum rd_outcome rd_connection_receive(struct rd_connection *connection, struct rd_rx_frame *rx_frame,
                                      struct rd_error *error);
// Returns the payload of a received frame to the connection.
void rd_connection_give_back(struct rd_connection *connection, const struct rd_rx_frame *rx_frame);
// The descriptor was just polled and was not ready.
void rd_connection_quiet(struct rd_connection *connection);

// Keepalive: call after every poll, when all arrived frames were received. Returns false on RD_CODE_PEER_STALLED.
bool rd_connection_tick(struct rd_connection *connection, struct rd_error *error);
// Milliseconds until rd_connection_tick() or rd_connection_receive() is due.
int rd_connection_timeout_ms(const struct rd_connection *connection);

// Sends a last frame, then discards frames until the peer closes or sends its own last frame (BYE, ABORT), so that the
// peer reads the frame before the connection is closed. Waits at most `most_ms`. Returns false, with *error, if the
// connection ended before the peer's last frame.
bool rd_connection_send_final(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                              const unsigned char *payload, size_t bytes, int64_t most_ms, struct rd_error *error);

// The descriptor to poll, and the events to poll for now.
int rd_connection_poll_fd(const struct rd_connection *connection);
short rd_connection_poll_events(const struct rd_connection *connection);
// A second descriptor, readable when threads have finished a frame; -1 if there are no threads.
int rd_connection_work_fd(const struct rd_connection *connection);
void rd_connection_worked(struct rd_connection *connection); // the second descriptor was readable

// The agreement, and names for reports.
const struct rd_agreement *rd_connection_agreement(const struct rd_connection *connection);
const char *rd_connection_transport(const struct rd_connection *connection); // "tcp"
const char *rd_connection_cipher(const struct rd_connection *connection);    // for DATA; "none": no protection
const char *rd_connection_local(const struct rd_connection *connection);
const char *rd_connection_peer(const struct rd_connection *connection);
const char *rd_connection_device(const struct rd_connection *connection); // "mlx5_0"; NULL if it has none

#endif
