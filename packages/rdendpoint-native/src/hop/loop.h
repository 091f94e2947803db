// SPDX-License-Identifier: Apache-2.0
// The loop that both ends of a hop share.
// Sender and receiver add their own part as a table of functions.
#ifndef RD_LOOP_H
#define RD_LOOP_H

#include "hop/endpoint.h"

// Runs until RD_PHASE_OVER (*end is RD_CODE_OK) or until an error ends the stream (*end is that error).
void rd_loop_run(struct rd_endpoint *endpoint, struct rd_error *end);
// Sends the role's last frame, unless the peer knows how the stream ended: BYE for RD_CODE_OK, CLOSED for
// RD_CODE_CLOSED, otherwise ABORT. Returns false if the connection broke before CLOSED was answered, and another one is
// being made.
bool rd_loop_shutdown(struct rd_endpoint *endpoint, const struct rd_error *end);
// Emits the last counters and RD_EVENT_FINISHED.
void rd_loop_finish(struct rd_endpoint *endpoint, const struct rd_error *end);

// Sets the error for a frame that the peer may not send now. Returns false.
bool rd_loop_out_of_place(const struct rd_rx_frame *rx_frame, struct rd_error *error);

#endif
