// SPDX-License-Identifier: Apache-2.0
// The interface to the network: complete messages, in order, without loss while the connection lives.
// Backends: tcp/ (any stream socket), verbs/ (RDMA), and one in memory in the tests. Each exports constructors only.
// Only destroy() may block; call everything from one thread, the one that polls. One conformance suite tests all
// backends.
#ifndef RD_TRANSPORT_TRANSPORT_H
#define RD_TRANSPORT_TRANSPORT_H

#include "base/error.h"
#include "base/outcome.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>

// A message that arrived. Its bytes belong to the transport until rd_transport_ops.give_back().
struct rd_message {
  unsigned char *data; // the frame's header; the payload, at data + RD_HEADER_BYTES, is page-aligned
  size_t bytes;
  unsigned slot;
};

// Longer round trips are those of a long path: no local network has them.
#define RD_LONG_PATH_US 3000u

// The limits that a transport has met so far, as far as it knows them.
struct rd_limits {
  int64_t send_buffer_ms;    // it was full of bytes that the peer had not acknowledged
  int64_t receive_window_ms; // the peer's
  uint64_t sent_again;       // segments that were lost
};

struct rd_transport {
  const struct rd_transport_ops *ops;
};

// Every backend implements every operation; one that it cannot perform fails with a message.
struct rd_transport_ops {
  const char *name; // "tcp", "rdma", "mem"
  // Messages arrive as a stream into any free slot; a device, in contrast, needs a posted buffer for each.
  bool is_stream;

  // The most lanes that a connection over this transport may have: sockets, of which the first is its own.
  unsigned (*lanes_most)(const struct rd_transport *transport);
  // The round trip in microseconds as far as it is known, also before any message; 0: unknown.
  uint32_t (*rtt_us)(const struct rd_transport *transport);
  // Numbers all further messages, so that up to `most` lanes, at least 2, can share them. Called once, before arm().
  // `first`: the number of the next message from the peer; the next one to it has number 0.
  void (*expect_lanes)(struct rd_transport *transport, unsigned most, unsigned first);
  // Adds a lane: another transport of this kind, with the same peer, that has done its handshake. Takes ownership of
  // it, even on failure.
  bool (*join)(struct rd_transport *transport, struct rd_transport *lane, struct rd_error *error);

  // Allocates receive memory for `slots` messages of up to RD_HEADER_BYTES + payload_bytes + RD_TAG_BYTES. Called once,
  // after authentication, when every message was given back and before receive() is called again; until then a
  // transport takes one message of at most RD_HANDSHAKE_MESSAGE_MAX_BYTES at a time.
  bool (*arm)(struct rd_transport *transport, unsigned slots, size_t payload_bytes, struct rd_error *error);

  // The limit, in bytes, of receive memory and registered memory together; SIZE_MAX: no limit.
  size_t (*memory_most_bytes)(const struct rd_transport *transport);
  // Registers memory to send from: a device sends it without a copy. It must stay valid until the transport is
  // destroyed. Other memory can be sent as well.
  bool (*register_memory)(struct rd_transport *transport, const void *memory, size_t bytes, struct rd_error *error);

  // The descriptor to poll, and the events to poll for now.
  int (*poll_fd)(const struct rd_transport *transport);
  short (*poll_events)(const struct rd_transport *transport);

  // Accepts one message of at least RD_HEADER_BYTES, made of `parts` (at most 4; the array is copied). AGAIN: try after
  // the next flush or receive. The memory of the parts must not change until released() counts this message.
  enum rd_outcome (*send)(struct rd_transport *transport, const struct iovec *parts, int count, struct rd_error *error);

  // Sends accepted messages as far as possible without waiting. After a failure receive() may still return messages
  // that the peer sent before it ended.
  bool (*flush)(struct rd_transport *transport, struct rd_error *error);

  // Returns how many of all accepted messages no longer need their memory.
  uint64_t (*released)(const struct rd_transport *transport);

  // Sets whether the caller waits for releases (the default); if not, a release does not have to make the descriptor
  // readable.
  void (*expect_releases)(struct rd_transport *transport, bool expected);

  // The descriptor was just polled and was not ready: it does not have to be read until receive() returns AGAIN.
  void (*quiet)(struct rd_transport *transport);

  // Returns the next message. AGAIN: none yet, or no free slot; only after AGAIN does the next message make the
  // descriptor ready. FAILED: RD_CODE_PEER_CLOSED if the peer has closed.
  enum rd_outcome (*receive)(struct rd_transport *transport, struct rd_message *message, struct rd_error *error);

  // Returns a message's slot. In any order.
  void (*give_back)(struct rd_transport *transport, const struct rd_message *message);

  // Milliseconds since the last bytes from the peer, also of an incomplete message; INT64_MAX: unknown.
  int64_t (*silent_ms)(const struct rd_transport *transport);

  // The round trip takes long: adapts to it. `window_bytes`: most that this end has in flight; `congestion`: also
  // chooses the congestion control.
  void (*tune_long_path)(struct rd_transport *transport, size_t window_bytes, bool congestion);

  void (*limits)(const struct rd_transport *transport, struct rd_limits *limits);

  // Closes the connection and releases the device without waiting; messages that were not given back stay valid.
  // Afterwards only destroy() may be called.
  void (*disconnect)(struct rd_transport *transport);

  // For reports: "10.0.0.1:40000". Owned by the transport.
  const char *(*local_name)(const struct rd_transport *transport);
  const char *(*peer_name)(const struct rd_transport *transport);
  const char *(*device_name)(const struct rd_transport *transport); // "mlx5_0"; NULL: none

  // Waits up to 200 ms if flushed messages would otherwise be lost. rd_transport_destroy() accepts NULL.
  void (*destroy)(struct rd_transport *transport);
};

static inline bool rd_transport_is_rdma(const struct rd_transport *transport) {
  return strcmp(transport->ops->name, "rdma") == 0;
}

static inline void rd_transport_destroy(struct rd_transport *transport) {
  if (transport != NULL) transport->ops->destroy(transport);
}

// A listener, or a dial in progress. It yields connections that are not authenticated; the caller runs the handshake.
struct rd_connector {
  const struct rd_connector_ops *ops;
};

struct rd_address {
  char host[256]; // numeric IPv4 or IPv6 (with %zone), or a path if port is 0 and it begins with '/'; standalone
                  // programs may also use a name
  uint16_t port;
  bool rdma;
  char from[256]; // for an RDMA dial: this machine's numeric address; empty: the routing table decides
};

static inline bool rd_address_is(const struct rd_address *one, const struct rd_address *other) {
  return one->rdma == other->rdma && one->port == other->port && strcmp(one->host, other->host) == 0;
}

struct rd_connector_ops {
  // A pollable descriptor (an epoll set or the socket itself), readable when accept() may return a connection.
  int (*poll_fd)(const struct rd_connector *connector);
  // Returns the next connection, which the caller destroys. FAILED is final: a dial was refused.
  enum rd_outcome (*accept)(struct rd_connector *connector, struct rd_transport **transport, struct rd_error *error);
  void (*destroy)(struct rd_connector *connector);
};

static inline void rd_connector_destroy(struct rd_connector *connector) {
  if (connector != NULL) connector->ops->destroy(connector);
}

#endif
