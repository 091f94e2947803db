// SPDX-License-Identifier: Apache-2.0
// The loop of either end of a hop: commands, connecting, frames, waiting; the roles add their part by a table.
#ifndef RD_LOOP_H
#define RD_LOOP_H

#include "hop/endpoint.h"

// Runs until the endpoint is over (*end has RD_CODE_OK), or something ended it (*end says what).
void rd_loop_run(struct rd_endpoint *endpoint, struct rd_error *end);
// Tells the peer how it ended, unless it knows: ABORT, and for RD_CODE_OK and RD_CODE_CLOSED the role's own last
// frame. False: CLOSED went to a connection that broke, and another one is being made to say it again.
bool rd_loop_shutdown(struct rd_endpoint *endpoint, const struct rd_error *end);

#endif
