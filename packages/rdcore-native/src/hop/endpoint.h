// SPDX-License-Identifier: Apache-2.0
// What the sending and the receiving loop share: commands about the way to the peer, connecting, connecting again when
// the connection broke (docs/protocol.md, section 1.6), waiting, telling, and the last words.
#ifndef RD_ENDPOINT_H
#define RD_ENDPOINT_H

#include "hop/liveness.h"
#include "hop/meter.h"

#define RD_ENDPOINT_WAITS_MOST 2u // descriptors that only one of the loops waits for

struct rd_endpoint {
  enum rd_role role;
  struct rd_control *control;
  struct rd_settings settings; // once `opened`
  bool opened;
  struct rd_connect *connect;       // from `open` on
  bool connect_due;                 // it may have something to do
  struct rd_connection *connection; // NULL: not yet, or not any more
  bool joined;                      // there was a connection
  enum rd_protection protection;    // and its DATA frames had this
  bool numa_bound;                  // it was looked where to be for it
  bool has_node;                    // and `node` it is
  int node;
  struct rd_error broken; // why there is none any more, `joined` though it is
  struct rd_liveness liveness;
  uint64_t moved_bytes; // of the stream; the loop says
  // The loop parts with the connection there is, broken or replaced: destroys it, or keeps it disconnected.
  void (*detach)(void *context, struct rd_connection *connection);
  void *context;
  int64_t listen_until_ms; // 0: no limit
  bool peer_ended;         // the peer ended the stream, and needs no telling
  size_t ring_bytes;       // of a sender with a connection
  uint64_t wire_bytes;     // of the connections before this one
  struct rd_meter meter;
};

// See the fields for `detach`.
void rd_endpoint_init(struct rd_endpoint *endpoint, enum rd_role role, struct rd_control *control,
                      void (*detach)(void *context, struct rd_connection *connection), void *context);
void rd_endpoint_clear(struct rd_endpoint *endpoint); // closes everything, wipes the key

// Follows `open`, `listen`, `dial` and `adopt`. False: they could not be followed, or the command is `abort`, or the
// control is lost; *error is then the end of this run.
bool rd_endpoint_handle_command(struct rd_endpoint *endpoint, const struct rd_command *command, struct rd_error *error);

// Goes on connecting: while there is no connection, when the one there is has been silent for long, and when the peer
// comes by another one. False: it failed for good.
bool rd_endpoint_connect(struct rd_endpoint *endpoint, struct rd_error *error);
// A failure of the connection: true when another one is being made, false when it is the end.
bool rd_endpoint_reconnect(struct rd_endpoint *endpoint, const struct rd_error *error);
// On a connection after the first one, the stream goes on from `offset`.
void rd_endpoint_emit_resumed(struct rd_endpoint *endpoint, uint64_t offset);

// Waits for commands, the peer, the loop's own `own` descriptors (whose revents are filled in), or the next keepalive
// or counters; at most `most_ns` (-1: no limit of its own). The time goes on the account of `wait`.
void rd_endpoint_wait(struct rd_endpoint *endpoint, struct pollfd *own, size_t own_count, int64_t most_ns,
                      enum rd_wait wait);

// The peer's ABORT as the end of this run.
bool rd_endpoint_take_abort(struct rd_endpoint *endpoint, const struct rd_rx_frame *rx_frame, struct rd_error *error);
// The frame should not have come now. Returns false.
bool rd_endpoint_out_of_place(const struct rd_rx_frame *rx_frame, struct rd_error *error);

// Tells the peer how it ended, unless it knows: ABORT, and for RD_CODE_OK and RD_CODE_CLOSED the role's own last
// frame. False: CLOSED went to a connection that broke, and another one is being made to say it again.
bool rd_endpoint_shutdown(struct rd_endpoint *endpoint, const struct rd_error *end);
// The counters, when they are due, or at once when `last`.
void rd_endpoint_emit_counters(struct rd_endpoint *endpoint, bool last);
// The last counters and RD_EVENT_FINISHED.
void rd_endpoint_finish(struct rd_endpoint *endpoint, const struct rd_error *end);

#endif
