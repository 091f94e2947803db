// SPDX-License-Identifier: Apache-2.0
// One end of a hop, sender or receiver: its commands, its connection to the peer, its states.
#ifndef RD_ENDPOINT_H
#define RD_ENDPOINT_H

#include "base/outcome.h"
#include "hop/liveness.h"
#include "hop/meter.h"

// The descriptors that the loop polls; an absent one is -1.
enum rd_poll_source {
  RD_POLL_COMMANDS,
  RD_POLL_DATA,       // the role's reader or writer
  RD_POLL_CONSUMER,   // the receiver's output, to see that its reader is gone
  RD_POLL_RELAY,      // what the sender beside this receiver tells
  RD_POLL_WIRE,       // the connection
  RD_POLL_WORK,       // its threads
  RD_POLL_CONNECTING, // this one and those after it: listeners, dials, pending connections
  RD_POLLS_MAX = RD_POLL_CONNECTING + RD_ESTABLISHER_POLLS_MAX
};

// How far the present connection has carried the stream (docs/protocol.md, section 1.6). Each phase follows the one
// before it, but for RD_PHASE_DONE, which a sender leaves out. The hop's first connection begins with RD_PHASE_DATA,
// and a connection that is lost leaves RD_PHASE_RESUME.
enum rd_phase {
  RD_PHASE_RESUME, // until RESUME was sent (receiver) or has come (sender)
  RD_PHASE_DATA,
  RD_PHASE_END,  // END was sent (sender) or has come (receiver)
  RD_PHASE_DONE, // DONE was sent (receiver)
  RD_PHASE_OVER, // DONE has come (sender); BYE has come, or was waited for long enough (receiver)
};

// The part of the loop that is the role's own; rd_loop_run() and the endpoint call it with the endpoint's `context`.
struct rd_loop_ops {
  // Follows a command, or passes it on to rd_endpoint_handle_command().
  bool (*handle_command)(void *context, const struct rd_command *command, struct rd_error *error);
  // There is a new connection.
  bool (*attach)(void *context, struct rd_error *error);
  // The connection broke, or is replaced: destroys it, or keeps it disconnected.
  void (*detach)(void *context, struct rd_connection *connection);
  // Once a pass, with a connection or without it: starts to read or to write when that is possible.
  bool (*prepare)(void *context, struct rd_error *error);
  // A frame arrived that is not ABORT. The role gives DATA frames back itself, the loop all others.
  bool (*take_frame)(void *context, const struct rd_rx_frame *rx_frame, struct rd_error *error);
  // Sends what can be sent now.
  bool (*transmit)(void *context, struct rd_error *error);
  // Fills in the role's own sources of `polls`, and `*wait` with the account that the waiting goes on. Returns for how
  // many nanoseconds to wait at most; -1: no limit.
  int64_t (*wait_for)(void *context, struct pollfd polls[RD_POLLS_MAX], enum rd_wait *wait);
  // `polls` have their revents.
  void (*woken)(void *context, const struct pollfd polls[RD_POLLS_MAX]);
};

struct rd_endpoint {
  enum rd_role role;
  struct rd_control *control;
  struct rd_establisher *establisher; // NULL: `open` has not come yet
  struct rd_settings settings;        // from then on
  bool establisher_due;               // rd_establisher_service() may have something to do
  struct rd_connection *connection;   // NULL: none yet, or it broke
  bool joined;                        // there was a connection
  enum rd_protection protection;      // and its DATA frames had this
  bool numa_bound;                    // bind_numa() has run
  bool has_node;                      // and this process runs on `node`
  int node;
  struct rd_error broken; // why the last connection ended
  struct rd_liveness liveness;
  uint64_t moved_bytes; // of the stream; set by the role
  const struct rd_loop_ops *ops;
  void *context;
  enum rd_phase phase;     // set by the role, from RD_PHASE_DATA on
  int64_t listen_until_ms; // 0: no limit
  bool peer_ended;         // the peer ended the stream, and knows how
  bool rejoined;           // to another peer than the first one, or about to be
  bool settled;            // the role needs no peer any more
  size_t ring_bytes;       // of a sender with a connection
  uint64_t wire_bytes;     // of the connections before this one
  struct rd_meter meter;
};

void rd_endpoint_init(struct rd_endpoint *endpoint, enum rd_role role, struct rd_control *control,
                      const struct rd_loop_ops *ops, void *context);
void rd_endpoint_clear(struct rd_endpoint *endpoint); // closes everything, wipes the key

// Follows `open`, `rejoin`, `listen`, `dial` and `adopt`, and ignores the other role's commands. False, with the end of
// the run in *error: it could not, or the command is `abort`, or the control is lost.
bool rd_endpoint_handle_command(struct rd_endpoint *endpoint, const struct rd_command *command, struct rd_error *error);

// Once a pass: makes a connection while there is none or the present one is silent, and takes the peer's next one.
// False: no connection can be made any more, or the peer has stalled.
bool rd_endpoint_connect(struct rd_endpoint *endpoint, struct rd_error *error);
// The connection failed. True: another one is being made; false: that is the end.
bool rd_endpoint_reconnect(struct rd_endpoint *endpoint, const struct rd_error *error);
// The peer is lost. True: in a chain, where RD_COMMAND_REJOIN may bring another one; false: that is the end.
bool rd_endpoint_part(struct rd_endpoint *endpoint, const struct rd_error *error);
// The stream goes on from `offset`, on a connection that is not the hop's first one.
void rd_endpoint_emit_resumed(struct rd_endpoint *endpoint, uint64_t offset);

// Emits the counters when they are due, or at once when `last`.
void rd_endpoint_emit_counters(struct rd_endpoint *endpoint, bool last);

#endif
