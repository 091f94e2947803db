// SPDX-License-Identifier: Apache-2.0
// One end of a hop, sender or receiver: its commands, its connection to the peer, its state.
#ifndef RD_ENDPOINT_H
#define RD_ENDPOINT_H

#include "base/outcome.h"
#include "hop/climb.h"
#include "hop/liveness.h"
#include "hop/meter.h"

// The descriptors that the loop polls; an absent one is -1.
enum rd_poll_source {
  RD_POLL_COMMANDS,
  RD_POLL_DATA,       // the role's reader or writer
  RD_POLL_CONSUMER,   // the receiver's output, to notice that its reader is gone
  RD_POLL_RELAY,      // the relay between the receiver and the sender of a host in a chain
  RD_POLL_WIRE,       // the connection
  RD_POLL_WORK,       // the connection's threads
  RD_POLL_CONNECTING, // this and all later ones: listeners, dials, pending connections
  RD_POLLS_MAX = RD_POLL_CONNECTING + RD_ESTABLISHER_POLLS_MAX
};

// How far the current connection has carried the stream (docs/protocol/wire.md, section 1.6). Each phase follows the
// one before it, except that a sender skips RD_PHASE_DONE. The hop's first connection begins with RD_PHASE_DATA, and
// after a lost connection the phase is RD_PHASE_RESUME.
enum rd_phase {
  RD_PHASE_RESUME, // until RESUME was sent (receiver) or received (sender)
  RD_PHASE_DATA,
  RD_PHASE_END,  // END was sent (sender) or received (receiver)
  RD_PHASE_DONE, // DONE was sent (receiver)
  RD_PHASE_OVER, // DONE was received (sender); BYE was received, or did not come in time (receiver)
};

// The role's own part of the loop; rd_loop_run() and the endpoint call it with the endpoint's `context`.
struct rd_loop_ops {
  // Executes a command, or passes it to rd_endpoint_handle_command().
  bool (*handle_command)(void *context, const struct rd_command *command, struct rd_error *error);
  // There is a new connection.
  bool (*attach)(void *context, struct rd_error *error);
  // The connection broke or is being replaced: destroys it, or keeps it disconnected.
  void (*detach)(void *context, struct rd_connection *connection);
  // Called once per pass, with or without a connection: starts to read or write when that is possible.
  bool (*prepare)(void *context, struct rd_error *error);
  // A frame other than ABORT arrived. The role gives DATA frames back itself, the loop all others.
  bool (*take_frame)(void *context, const struct rd_rx_frame *rx_frame, struct rd_error *error);
  // Sends everything that can be sent now.
  bool (*transmit)(void *context, struct rd_error *error);
  // Fills in the role's own sources in `polls`, and in *wait the reason for waiting, for the counters. Returns the
  // longest time to wait, in nanoseconds; -1: no limit.
  int64_t (*wait_for)(void *context, struct pollfd polls[RD_POLLS_MAX], enum rd_wait *wait);
  // `polls` have their revents.
  void (*woken)(void *context, const struct pollfd polls[RD_POLLS_MAX]);
};

struct rd_endpoint {
  enum rd_role role;
  struct rd_control *control;
  struct rd_establisher *establisher; // NULL: no RD_COMMAND_OPEN yet
  struct rd_settings settings;        // valid from then on
  bool establisher_due;               // rd_establisher_service() may have something to do
  struct rd_connection *connection;   // NULL: none yet, or it broke
  bool joined;                        // there was a connection
  enum rd_protection protection;      // of the DATA frames of that connection
  bool numa_bound;                    // bind_numa() has run
  bool has_node;                      // this process runs on `node`
  int node;
  struct rd_error broken; // why the last connection ended
  struct rd_liveness liveness;
  uint64_t moved_bytes; // of the stream; set by the role
  const struct rd_loop_ops *ops;
  void *context;
  enum rd_phase phase;     // set by the role, from RD_PHASE_DATA on
  int64_t listen_until_ms; // 0: no limit
  bool peer_ended;         // the peer ended the stream and knows the outcome
  bool rejoined;           // to another peer than the first one, or waiting for one
  bool settled;            // the role does not need a peer any more
  size_t ring_bytes;       // for a sender with a connection
  unsigned lanes;          // of the connection, or of the last one; 0: there was none
  unsigned lanes_most;     // that it may have
  struct rd_climb climb;
  uint64_t wire_bytes;     // of earlier connections
  struct rd_limits limits; // of earlier connections
  struct rd_meter meter;
};

// `control`, `ops` and `context` must outlive the endpoint.
void rd_endpoint_init(struct rd_endpoint *endpoint, enum rd_role role, struct rd_control *control,
                      const struct rd_loop_ops *ops, void *context);
void rd_endpoint_clear(struct rd_endpoint *endpoint); // closes everything, wipes the key

// Executes `open`, `rejoin`, `listen`, `dial` and `adopt`, and ignores the other role's commands. Returns false, with
// the error that ends the run, if it could not, the command is `abort`, or the controller is lost.
bool rd_endpoint_handle_command(struct rd_endpoint *endpoint, const struct rd_command *command, struct rd_error *error);

// Call once per pass: connects while there is no connection or the current one is silent, and takes a new connection
// from the peer. Returns false if no connection can be made any more or the peer has stalled.
bool rd_endpoint_connect(struct rd_endpoint *endpoint, struct rd_error *error);
// The connection failed. Returns true if another one is being made, false if the run is over.
bool rd_endpoint_reconnect(struct rd_endpoint *endpoint, const struct rd_error *error);
// The peer is lost. Returns true in a chain, where RD_COMMAND_REJOIN may bring another peer; false if the run is over.
bool rd_endpoint_part(struct rd_endpoint *endpoint, const struct rd_error *error);
// Reports that the stream continues at `offset`, on a connection that is not the hop's first one.
void rd_endpoint_emit_resumed(struct rd_endpoint *endpoint, uint64_t offset);

// Emits the counters when they are due, or at once when `last`.
void rd_endpoint_emit_counters(struct rd_endpoint *endpoint, bool last);

#endif
