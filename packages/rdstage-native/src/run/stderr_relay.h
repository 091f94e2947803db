// SPDX-License-Identifier: Apache-2.0
// Passes a stage's standard error to rdpipe, within a limit of unacknowledged bytes.
// At the limit the stage waits.
#ifndef RD_STAGE_STDERR_RELAY_H
#define RD_STAGE_STDERR_RELAY_H

#include "run/agent.h"

#define RD_STDERR_UNACKNOWLEDGED_MAX_BYTES (128u << 10)

struct rd_stderr_relay;
// *write_fd becomes the end that the stage writes to; the caller closes it. `ended` is called once, when no writer is
// left and everything was passed on. Returns NULL (RD_CODE_INTERNAL) on failure.
struct rd_stderr_relay *rd_stderr_relay_create(struct rd_agent *agent, unsigned stage, int *write_fd,
                                               void (*ended)(void *context), void *context, struct rd_error *error);
void rd_stderr_relay_destroy(struct rd_stderr_relay *relay); // NULL-safe

// rdpipe has taken `bytes` bytes in total.
void rd_stderr_relay_acknowledge(struct rd_stderr_relay *relay, uint64_t bytes);
bool rd_stderr_relay_has_ended(const struct rd_stderr_relay *relay);
// Returns true if there is nothing to pass on at the moment.
bool rd_stderr_relay_is_idle(const struct rd_stderr_relay *relay);
// Passes on the output that has arrived, up to the limit.
void rd_stderr_relay_take(struct rd_stderr_relay *relay);
// Like rd_stderr_relay_take(), then stops reading.
void rd_stderr_relay_close(struct rd_stderr_relay *relay);

#endif
