// SPDX-License-Identifier: Apache-2.0
// The messages to the guardian: write ends to hold, keepalives of the supervisor, the end of its work.
// The guardian holds write ends so that no consumer sees an end of file when the supervisor dies.
#ifndef RD_STAGE_GUARDIAN_MESSAGES_H
#define RD_STAGE_GUARDIAN_MESSAGES_H

#include "base/error.h"

#include <stdint.h>

enum rd_guardian_message_type {
  RD_GUARDIAN_HOLD = 1, // comes with a descriptor
  RD_GUARDIAN_RELEASE,
  RD_GUARDIAN_FINISHED,
  RD_GUARDIAN_ALIVE,
};

struct rd_guardian_message {
  uint32_t type;
  uint32_t number; // of a write end, chosen by the supervisor; of RD_GUARDIAN_ALIVE: milliseconds
};

// The supervisor's end of the socket. False when the guardian is gone.
bool rd_guardian_hold(int guard_fd, uint32_t hold, int fd, struct rd_error *error);
bool rd_guardian_release(int guard_fd, uint32_t hold, struct rd_error *error);
bool rd_guardian_finished(int guard_fd, struct rd_error *error);
// The next message comes within so many milliseconds, or the supervisor hangs.
bool rd_guardian_alive(int guard_fd, uint32_t within_ms, struct rd_error *error);

// The guardian's end: waits for a message, with *fd (the caller's, or -1). False when the supervisor is gone or has
// sent something else.
bool rd_guardian_receive(int guard_fd, struct rd_guardian_message *message, int *fd);

#endif
