// SPDX-License-Identifier: Apache-2.0
// The only decoder of rdpipe's requests to the agent (docs/protocol/agent.md, section 2.1).
#ifndef RD_STAGE_REQUEST_H
#define RD_STAGE_REQUEST_H

#include "protocol/prepare.h"

// `prepare` contains the settings of every program of a copy, and two or three of these contain all of its sources.
#define RD_REQUEST_LINE_MAX_BYTES (16u << 20)

enum rd_request_op {
  RD_REQUEST_PREPARE,
  RD_REQUEST_LISTEN,
  RD_REQUEST_DIAL,
  RD_REQUEST_SHOW,
  RD_REQUEST_REJOIN,
  RD_REQUEST_LAST,
  RD_REQUEST_GO,
  RD_REQUEST_STDERR_ACK,
  RD_REQUEST_SUSPEND,
  RD_REQUEST_RESUME,
  RD_REQUEST_ABORT,
  RD_REQUEST_FINISH,
  RD_REQUEST_PING,
};

struct rd_request {
  enum rd_request_op op;
  struct rd_prepare_spec *prepare; // RD_REQUEST_PREPARE; the handler takes it over by setting this to NULL
  unsigned segment;                // RD_REQUEST_GO
  unsigned stage;                  // RD_REQUEST_STDERR_ACK
  uint64_t bytes;                  // RD_REQUEST_STDERR_ACK
  int64_t link;                    // RD_REQUEST_LISTEN, RD_REQUEST_DIAL, RD_REQUEST_SHOW
  enum rd_hop_side side;           // of the same
  json_t *object;                  // of the same: passed on unchanged
  char reason[256];                // RD_REQUEST_ABORT
};

// Decodes one line. Returns false (RD_CODE_USAGE) if the line is not a request or its parts do not match; *request is
// cleared then.
bool rd_request_decode(const char *line, size_t bytes, struct rd_request *request, struct rd_error *error);
// Frees the contents of the request, except for a `prepare` that was taken over.
void rd_request_clear(struct rd_request *request);

#endif
