// SPDX-License-Identifier: Apache-2.0
// The receiving end of a hop: from the wire to the sink.
#ifndef RD_RECV_LOOP_H
#define RD_RECV_LOOP_H

#include "hop/control.h"

// Handles commands until the stream has ended, well or not, and emits RD_EVENT_FINISHED; after a bad end it keeps the
// output open until RD_COMMAND_RELEASE. Returns the code of the end: RD_CODE_OK if everything is written,
// RD_CODE_CLOSED if the consumer closed its input.
enum rd_code rd_recv_loop(struct rd_control *control);

#endif
