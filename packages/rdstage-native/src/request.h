// SPDX-License-Identifier: Apache-2.0
// What rdpipe asks of the agent (docs/protocol.md, section 2.1): the one place where its lines are decoded.
#ifndef RD_STAGE_REQUEST_H
#define RD_STAGE_REQUEST_H

#include "prepare.h"

#define REQUEST_LINE_MAX_BYTES (1u << 20)

enum request_op {
  REQUEST_PREPARE,
  REQUEST_LISTEN,
  REQUEST_DIAL,
  REQUEST_SHOW,
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
  int64_t link;                 // REQUEST_LISTEN, REQUEST_DIAL, REQUEST_SHOW
  enum hop_side end;            // of the same
  json_t *order;                // of the same: passed on as it came
  char reason[256];             // REQUEST_ABORT
};

// Decodes one line. False (RD_CODE_USAGE) when it is no request, or one whose parts do not fit together; nothing is
// left to destroy then.
bool request_decode(const char *line, size_t bytes, struct request *request, struct rd_error *error);
void request_clear(struct request *request);

#endif
