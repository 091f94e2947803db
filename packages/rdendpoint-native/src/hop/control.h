// SPDX-License-Identifier: Apache-2.0
// The interface between a loop and its controller, an agent or a person.
// Commands come in, events go out.
#ifndef RD_CONTROL_H
#define RD_CONTROL_H

#include "base/option_rows.h"
#include "base/usage.h"
#include "conn/establisher.h"
#include "crypto/signature.h"
#include "ring/shared_ring.h"

#include <limits.h>
#include <poll.h>
#include <sys/types.h>

enum rd_command_type {
  RD_COMMAND_OPEN,    // settings; first, once
  RD_COMMAND_FILE,    // path, append: the source or sink
  RD_COMMAND_READY,   // fd: the source or sink; asks
  RD_COMMAND_RELAY,   // ring_fds (handed over): this end is one side of a chain's relay
  RD_COMMAND_RING,    // ring_fds (handed over): the bytes of the input or output are in this ring, not in its pipe
  RD_COMMAND_LISTEN,  // listen
  RD_COMMAND_DIAL,    // addresses
  RD_COMMAND_ADOPT,   // transport (handed over), is_dialer
  RD_COMMAND_READER,  // pid: leads the process group that reads this program's output
  RD_COMMAND_SHOW,    // the answer to RD_EVENT_OUTPUT
  RD_COMMAND_COMMIT,  // status: the producer succeeded
  RD_COMMAND_ABORT,   // code, reason
  RD_COMMAND_REJOIN,  // settings of the hop to another peer, after RD_EVENT_PARTED
  RD_COMMAND_LAST,    // this sender will get no other peer
  RD_COMMAND_RELEASE, // the consumer is dead: the output may be closed
  RD_COMMAND_LOST,    // code, reason: the controller is gone
};

#define RD_NUMBER_MEMBER(name, row) int64_t name;
#define RD_FLAG_MEMBER(name, row) bool name;

struct rd_settings {
  unsigned char key[RD_KEY_BYTES];
  char run[64];
  unsigned hop;
  enum rd_encrypt encrypt;
  // Options of the hop, also of local links; 0: no compression, no limit, one thread per CPU, at most 8.
  RD_HOP_OPTIONS(RD_NUMBER_MEMBER, RD_FLAG_MEMBER)
  bool chain;                // the hop is part of a chain: a lost peer is replaced by another one
  unsigned behind;           // number of hosts after this end in the chain, at most RD_BEHIND_MAX
  struct rd_signing signing; // for a chain's stream
  bool retry_refused;        // see dialer.h, also for the next one
  bool rdma_first;
  int64_t listen_timeout_ms; // standalone, without a peer; 0: no limit
  char bind_host[256];       // empty: every address
  uint16_t port_low, port_high;
};

struct rd_listen_command {
  bool rdma;
  bool has_bind; // otherwise the settings' bind_host is used
  char bind_host[256];
  uint16_t port; // 0: one of the settings' ports
};

struct rd_command {
  enum rd_command_type type;
  struct rd_settings settings;
  char path[PATH_MAX];
  bool append;
  struct rd_ring_fds ring_fds;
  int fd;
  bool asks; // emit RD_EVENT_OUTPUT before the first byte is written to it
  struct rd_listen_command listen;
  struct rd_transport *transport;
  bool is_dialer;
  pid_t pid;
  uint32_t status;
  enum rd_code code;
  char reason[512];
  struct rd_address addresses[RD_DIALER_MAX];
  size_t address_count;
  bool are_rails; // see rd_establisher_use_rails()
};

enum rd_event_type {
  RD_EVENT_READY,
  RD_EVENT_LISTENING,     // rdma, port
  RD_EVENT_LISTEN_FAILED, // rdma, error; the run continues
  RD_EVENT_DIAL_FAILED,   // error; the run continues
  RD_EVENT_REJECTED,      // peer, error
  RD_EVENT_CONNECTED,     // transport, cipher, local, peer, device, numa_node, note
  RD_EVENT_BROKEN,        // error: the connection broke, another one is being made
  RD_EVENT_RESUMED,       // epoch, bytes: there is a new connection, and the stream continues at that offset
  RD_EVENT_PARTED,        // error, bytes: the peer is lost, and another one may come (in a chain)
  RD_EVENT_SIZE,          // bytes
  RD_EVENT_COUNTERS,      // bytes, wire_bytes, waits, limits, lanes, rtt_us
  RD_EVENT_OUTPUT,        // the first byte waits for RD_COMMAND_SHOW, at most a second
  RD_EVENT_CLOSED,        // once: the consumer closed its input and wants no more of the stream
  RD_EVENT_END,           // bytes, status: END was valid, and all bytes are written
  RD_EVENT_FINISHED,      // error (RD_CODE_OK: delivered), bytes, wire_bytes, usage; the last event
};

// How long this end waited, by reason.
struct rd_waits {
  int64_t input_ms, limit_ms, worker_ms, wire_ms, output_ms;
};

struct rd_event {
  enum rd_event_type type;
  bool rdma;
  uint16_t port;
  const struct rd_error *error;
  const char *transport, *cipher, *local, *peer;
  const char *device, *note; // NULL: none
  const int *numa_node;      // NULL: this process was not bound to one
  uint64_t bytes;
  uint64_t wire_bytes; // of DATA frames so far
  struct rd_waits waits;
  struct rd_limits limits; // of all connections
  unsigned lanes;          // the most of a connection so far; 0: there was none
  uint32_t rtt_us;         // 0: not measured
  uint32_t status;         // of the producer
  uint32_t epoch;          // of the connection
  struct rd_usage usage;
};

struct rd_control {
  const struct rd_control_ops *ops;
  bool due; // there may be a command: its descriptor was ready, or an event was emitted
};

struct rd_control_ops {
  // The descriptor to poll while there is no command; -1: none.
  struct pollfd (*poll)(const struct rd_control *control);
  // Fills in the next command. Returns false if there is none now.
  bool (*next)(struct rd_control *control, struct rd_command *command);
  // Emits an event; its pointers remain the caller's. Waits only for RD_EVENT_FINISHED.
  void (*emit)(struct rd_control *control, const struct rd_event *event);
};

#endif
