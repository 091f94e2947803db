// SPDX-License-Identifier: Apache-2.0
// The messages to the guardian: write ends to hold, keepalives of the supervisor, the end of its work.
// The guardian holds write ends so that no consumer sees an end of file when the supervisor dies.
#ifndef RD_STAGE_GUARDIAN_MESSAGES_H
#define RD_STAGE_GUARDIAN_MESSAGES_H

#include "base/error.h"

#include <stdint.h>

enum rd_guardian_message_type {
  RD_GUARDIAN_HOLD = 1, // sent with a descriptor
  RD_GUARDIAN_RELEASE,
  RD_GUARDIAN_FINISHED,
  RD_GUARDIAN_ALIVE,
};

struct rd_guardian_message {
  uint32_t type;
  uint32_t number; // of a write end, chosen by the supervisor; of RD_GUARDIAN_ALIVE: milliseconds
};

// Functions for the supervisor's end of the socket. Return false if the guardian is gone.
bool rd_guardian_hold(int guard_fd, uint32_t hold, int fd, struct rd_error *error);
bool rd_guardian_release(int guard_fd, uint32_t hold, struct rd_error *error);
bool rd_guardian_finished(int guard_fd, struct rd_error *error);
// Announces that the next message follows within `within_ms`; otherwise the supervisor hangs.
bool rd_guardian_alive(int guard_fd, uint32_t within_ms, struct rd_error *error);

// Waits for a message at the guardian's end. *fd is its descriptor (owned by the caller), or -1. Returns false if the
// supervisor is gone or has sent an invalid message.
bool rd_guardian_receive(int guard_fd, struct rd_guardian_message *message, int *fd);

#endif
