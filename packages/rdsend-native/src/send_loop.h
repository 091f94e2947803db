// SPDX-License-Identifier: Apache-2.0
// The sending end of a hop: from the source through the ring to the wire.
#ifndef RD_SEND_LOOP_H
#define RD_SEND_LOOP_H

#include "hop/control.h"

// Handles commands until the stream has ended, well or not, and emits RD_EVENT_FINISHED. Returns the code of the end:
// RD_CODE_OK if everything was delivered, RD_CODE_CLOSED if the consumer closed its input.
enum rd_code rd_send_loop(struct rd_control *control);

#endif
