// SPDX-License-Identifier: Apache-2.0
// What rdpipe asks of the agent (docs/protocol.md, section 2.1): the one place where its lines are decoded.
#ifndef RD_STAGE_REQUEST_H
#define RD_STAGE_REQUEST_H

#include "error.h"

#include <jansson.h>
#include <stdint.h>

#define REQUEST_LINE_MAX_BYTES (1u << 20)
#define REQUEST_STAGES_MAX 256u

enum hop_end { HOP_SEND, HOP_RECV };
const char *hop_end_name(enum hop_end end); // "send", "recv"

enum stage_kind { STAGE_COMMAND, STAGE_SOURCE, STAGE_SINK };

struct stage_spec {
  unsigned number;
  enum stage_kind kind;
  char *text;      // the command, or the file's word
  char *shell;     // of a command
  bool ok[256];    // of a command: statuses that count as success
  bool append;     // of a sink
  int64_t in, out; // link numbers; -1: none
};

enum link_kind { LINK_NULL, LINK_STDIN, LINK_STDOUT, LINK_PIPE, LINK_HOP, LINK_LOCAL };

// What stands at an end of a hop or a local link.
enum link_party { PARTY_STAGE, PARTY_USER, PARTY_NULL };

struct link_spec {
  int64_t number;
  enum link_kind kind;
  enum hop_end end; // of a hop
  enum link_party source, sink;
  char *key; // hexadecimal
  bool encrypt;
  int64_t buffer_bytes;
  char *bind; // NULL: every address
  int ports[2];
};

struct prepare_spec {
  unsigned segment;
  char *run;
  bool lenient;
  int64_t lease_ms, connect_timeout_ms, stall_timeout_ms;
  struct stage_spec *stages;
  size_t stage_count;
  struct link_spec *links;
  size_t link_count;
};

enum request_op {
  REQUEST_PREPARE,
  REQUEST_LISTEN,
  REQUEST_DIAL,
  REQUEST_GO,
  REQUEST_STDERR_ACK,
  REQUEST_SUSPEND,
  REQUEST_RESUME,
  REQUEST_ABORT,
  REQUEST_FINISH,
  REQUEST_PING,
};

struct request {
  enum request_op op;
  struct prepare_spec *prepare; // REQUEST_PREPARE; whoever wants to keep it sets it to NULL here
  unsigned segment;             // REQUEST_GO
  unsigned stage;               // REQUEST_STDERR_ACK
  uint64_t bytes;               // REQUEST_STDERR_ACK
  int64_t link;                 // REQUEST_LISTEN, REQUEST_DIAL
  enum hop_end end;             // REQUEST_LISTEN, REQUEST_DIAL
  json_t *addresses;            // REQUEST_DIAL: passed on as it came
  char reason[256];             // REQUEST_ABORT
};

// Decodes one line. False (RD_CODE_USAGE) when it is no request, or one whose parts do not fit together; nothing is
// left to destroy then.
bool request_decode(const char *line, size_t bytes, struct request *request, struct rd_error *error);
void request_clear(struct request *request);

void prepare_destroy(struct prepare_spec *prepare); // wipes the keys; NULL-safe

#endif
