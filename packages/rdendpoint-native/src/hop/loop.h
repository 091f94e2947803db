// SPDX-License-Identifier: Apache-2.0
// The loop of both ends of a hop; sender and receiver add their own part by a table.
#ifndef RD_LOOP_H
#define RD_LOOP_H

#include "hop/endpoint.h"

// Runs until RD_PHASE_OVER (*end has RD_CODE_OK) or until something else ends the stream (*end has it).
void rd_loop_run(struct rd_endpoint *endpoint, struct rd_error *end);
// Sends the peer the role's last frame, unless the peer knows how the stream ended: BYE for RD_CODE_OK, CLOSED for
// RD_CODE_CLOSED, else ABORT. False: the connection broke before CLOSED was answered, and another one is being made.
bool rd_loop_shutdown(struct rd_endpoint *endpoint, const struct rd_error *end);
// Emits the last counters and RD_EVENT_FINISHED.
void rd_loop_finish(struct rd_endpoint *endpoint, const struct rd_error *end);

// The peer may not send this frame now. Returns false.
bool rd_loop_out_of_place(const struct rd_rx_frame *rx_frame, struct rd_error *error);

#endif
