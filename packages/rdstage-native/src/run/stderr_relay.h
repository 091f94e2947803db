// SPDX-License-Identifier: Apache-2.0
// A stage's standard error on its way to rdpipe, within a limit of unacknowledged bytes.
// At the limit the stage waits.
#ifndef RD_STAGE_STDERR_RELAY_H
#define RD_STAGE_STDERR_RELAY_H

#include "run/agent.h"

#define RD_STDERR_UNACKNOWLEDGED_MAX_BYTES (128u << 10)

struct rd_stderr_relay;
// `write_fd` becomes the end that the stage writes to: the caller closes it. `ended` is called once, when there is no
// writer any more and everything was passed on. NULL (RD_CODE_INTERNAL) on failure.
struct rd_stderr_relay *rd_stderr_relay_create(struct rd_agent *agent, unsigned stage, int *write_fd,
                                               void (*ended)(void *context), void *context, struct rd_error *error);
void rd_stderr_relay_destroy(struct rd_stderr_relay *relay); // NULL-safe

// rdpipe has taken so many bytes in all.
void rd_stderr_relay_acknowledge(struct rd_stderr_relay *relay, uint64_t bytes);
bool rd_stderr_relay_has_ended(const struct rd_stderr_relay *relay);
// True when nothing is left to pass on for now.
bool rd_stderr_relay_is_idle(const struct rd_stderr_relay *relay);
// Passes on what has arrived, up to the limit.
void rd_stderr_relay_take(struct rd_stderr_relay *relay);
// The same, then stops reading.
void rd_stderr_relay_close(struct rd_stderr_relay *relay);

#endif
