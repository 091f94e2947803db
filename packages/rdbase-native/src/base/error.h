// SPDX-License-Identifier: Apache-2.0
// An error: a code, which decides the exit status, and one line of text for the user.
#ifndef RD_BASE_ERROR_H
#define RD_BASE_ERROR_H

#include <stdbool.h>

// See docs/protocol/statuses.md, section 4.1. On the wire, ABORT carries rd_code_status() of these codes.
enum rd_code {
  RD_CODE_OK,
  RD_CODE_USAGE,
  RD_CODE_CANNOT_CONNECT,
  RD_CODE_KEY_REFUSED,
  RD_CODE_PEER_LOST,
  RD_CODE_PEER_STALLED,
  RD_CODE_SOURCE_UNREADABLE,
  RD_CODE_SINK_UNWRITABLE,
  RD_CODE_DATA_DAMAGED,
  RD_CODE_ABORTED,
  RD_CODE_CLOSED,
  RD_CODE_INTERNAL,
  RD_CODE_PEER_CLOSED,   // reported as RD_CODE_PEER_LOST: the connection was closed or reset
  RD_CODE_NOT_REQUESTED, // of rdtree: another host of the copy sent or named what the user did not ask for
};

struct rd_error {
  enum rd_code code;
  char message[512]; // one line, lower case, without a full stop
};

// Fills *error. Format as printf; control characters in the result are replaced by '?'.
void rd_error_set(struct rd_error *error, enum rd_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// As rd_error_set(), and appends ": " and the system's message for errno.
void rd_error_set_errno(struct rd_error *error, enum rd_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Returns the name used in messages ("peer_lost"). Never NULL.
const char *rd_code_name(enum rd_code code);

// Returns true if the connection is lost; the peer may still be running.
bool rd_code_is_loss(enum rd_code code);

// Returns the exit status of rdsend and rdrecv for this code; 128 + SIGPIPE for RD_CODE_CLOSED.
int rd_code_status(enum rd_code code);

// Returns the code for an ABORT status from a peer; RD_CODE_ABORTED for unknown numbers.
enum rd_code rd_code_from_status(unsigned status);

#endif
