// SPDX-License-Identifier: Apache-2.0
// The receiving end of a hop: from the wire to the sink.
#ifndef RD_RECV_LOOP_H
#define RD_RECV_LOOP_H

#include "hop/control.h"

// Follows commands until the stream has ended one way or another, and tells RD_EVENT_FINISHED; after an end that was
// not good it keeps the output open until RD_COMMAND_RELEASE. Returns the code of the end: RD_CODE_OK when everything
// is written, RD_CODE_CLOSED when the consumer wanted no more.
enum rd_code rd_recv_loop(struct rd_control *control);

#endif
