// SPDX-License-Identifier: Apache-2.0
// rdrecv --serve: a session for each authenticated client (docs/protocol/serving.md, section 6).
#ifndef RD_SERVE_SERVER_H
#define RD_SERVE_SERVER_H

#include "serve/options.h"

// Serves until TERM or INT. Returns the exit status; *error is set if the server could not start.
int rd_serve_run(const struct rd_serve_options *options, struct rd_error *error);

#endif
