// SPDX-License-Identifier: Apache-2.0
// What the sending and the receiving loop share: commands about the way to the peer, connecting, connecting again when
// the connection broke (docs/protocol.md, section 1.6), waiting, telling, and the last words.
#ifndef RD_ENDPOINT_H
#define RD_ENDPOINT_H

#include "base/outcome.h"
#include "hop/liveness.h"
#include "hop/meter.h"

// What the loop polls; fd -1 where there is nothing.
enum rd_poll_source {
  RD_POLL_COMMANDS,
  RD_POLL_DATA,       // the role's reader or writer
  RD_POLL_CONSUMER,   // the receiver's output: whether its reader is gone
  RD_POLL_WIRE,       // the connection
  RD_POLL_WORK,       // its threads
  RD_POLL_CONNECTING, // this one and those after it: listeners, dials, pending connections
  RD_POLLS_MOST = RD_POLL_CONNECTING + RD_ESTABLISHER_POLLS_MOST
};

// How far the stream is on the present connection (docs/protocol.md, sections 1.4 and 1.6). Each phase follows the one
// before it; the hop's first connection begins with RD_PHASE_DATA, and without one it is RD_PHASE_RESUME.
enum rd_phase {
  RD_PHASE_RESUME, // the receiver's RESUME has to go, or to come
  RD_PHASE_DATA,
  RD_PHASE_END,  // END was sent, or has come
  RD_PHASE_DONE, // of a receiver: DONE was sent
  RD_PHASE_OVER, // of a sender: DONE has come; of a receiver: BYE has, or does not come
};

// The part of the loop that is the role's own; rd_loop_run() and the endpoint call it with the endpoint's `context`.
struct rd_loop_ops {
  // Follows a command, or passes it on to rd_endpoint_handle_command().
  bool (*handle_command)(void *context, const struct rd_command *command, struct rd_error *error);
  // There is a new connection.
  bool (*attach)(void *context, struct rd_error *error);
  // Parts with the connection there is, broken or replaced: destroys it, or keeps it disconnected.
  void (*detach)(void *context, struct rd_connection *connection);
  // In each pass, with a connection or without: begins what can begin.
  bool (*prepare)(void *context, struct rd_error *error);
  // Any frame but ABORT. The payload of a DATA frame is the role's from then on.
  bool (*take_frame)(void *context, const struct rd_rx_frame *rx_frame, struct rd_error *error);
  // Sends what can be sent now.
  bool (*transmit)(void *context, struct rd_error *error);
  // What to wait for besides commands and the peer: fills in the role's sources among `polls`, and `*wait` with the
  // account that the time goes on. Returns for how many nanoseconds at most; -1: no limit.
  int64_t (*wait_for)(void *context, struct pollfd polls[RD_POLLS_MOST], enum rd_wait *wait);
  // They were polled.
  void (*woken)(void *context, const struct pollfd polls[RD_POLLS_MOST]);
};

struct rd_endpoint {
  enum rd_role role;
  struct rd_control *control;
  struct rd_establisher *connect;   // NULL: `open` has not come yet
  struct rd_settings settings;      // from then on
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
  const struct rd_loop_ops *ops;
  void *context;
  enum rd_phase phase;     // the role says, from RD_PHASE_DATA on
  int64_t listen_until_ms; // 0: no limit
  bool peer_ended;         // the peer ended the stream, and needs no telling
  size_t ring_bytes;       // of a sender with a connection
  uint64_t wire_bytes;     // of the connections before this one
  struct rd_meter meter;
};

void rd_endpoint_init(struct rd_endpoint *endpoint, enum rd_role role, struct rd_control *control,
                      const struct rd_loop_ops *ops, void *context);
void rd_endpoint_clear(struct rd_endpoint *endpoint); // closes everything, wipes the key

// Follows `open`, `listen`, `dial` and `adopt`, and ignores the other role's commands. False: it could not follow, or
// the command is `abort`, or the control is lost; *error is then the end of this run.
bool rd_endpoint_handle_command(struct rd_endpoint *endpoint, const struct rd_command *command, struct rd_error *error);

// Goes on connecting: while there is no connection, when the one there is has been silent for long, and when the peer
// comes by another one. False: it failed for good.
bool rd_endpoint_connect(struct rd_endpoint *endpoint, struct rd_error *error);
// A failure of the connection: true when another one is being made, false when it is the end.
bool rd_endpoint_reconnect(struct rd_endpoint *endpoint, const struct rd_error *error);
// On a connection after the first one, the stream goes on from `offset`.
void rd_endpoint_emit_resumed(struct rd_endpoint *endpoint, uint64_t offset);

// The frame should not have come now. Returns false.
bool rd_endpoint_out_of_place(const struct rd_rx_frame *rx_frame, struct rd_error *error);

// The counters, when they are due, or at once when `last`.
void rd_endpoint_emit_counters(struct rd_endpoint *endpoint, bool last);
// The last counters and RD_EVENT_FINISHED.
void rd_endpoint_finish(struct rd_endpoint *endpoint, const struct rd_error *end);

#endif
