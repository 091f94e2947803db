// SPDX-License-Identifier: Apache-2.0
// A stage's standard error on its way to rdpipe. What rdpipe has not taken yet is bounded; beyond it the stage waits.
#ifndef RD_STAGE_STDERR_RELAY_H
#define RD_STAGE_STDERR_RELAY_H

#include "run/agent.h"

#define RD_STDERR_UNACKNOWLEDGED_MAX_BYTES (128u << 10)

struct rd_stderr_relay;
// `write_fd` becomes the end that the stage writes to: the caller closes it. `ended` is called once, when nobody writes
// any more and everything was passed on. NULL (RD_CODE_INTERNAL) on failure.
struct rd_stderr_relay *rd_stderr_relay_create(struct rd_agent *agent, unsigned stage, int *write_fd,
                                               void (*ended)(void *context), void *context, struct rd_error *error);
void rd_stderr_relay_destroy(struct rd_stderr_relay *relay); // NULL-safe

// So many bytes were taken in all.
void rd_stderr_relay_acknowledge(struct rd_stderr_relay *relay, uint64_t bytes);
bool rd_stderr_relay_has_ended(const struct rd_stderr_relay *relay);
// Nothing is left to pass on for now, and nothing waits to be acknowledged before it goes.
bool rd_stderr_relay_is_idle(const struct rd_stderr_relay *relay);
// Passes on what is there and may go.
void rd_stderr_relay_take(struct rd_stderr_relay *relay);
// The same, and reads no more.
void rd_stderr_relay_close(struct rd_stderr_relay *relay);

#endif
