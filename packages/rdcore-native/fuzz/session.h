// SPDX-License-Identifier: Apache-2.0
// A whole session of a loop against a phony peer: the folder for its files, and its settings.
#ifndef RD_FUZZ_SESSION_H
#define RD_FUZZ_SESSION_H

#include "phony_peer.h"
#include "script_control.h"

#define SESSION_BUFFER_BYTES (64u << 10)

// A folder in memory, empty at first, that is gone with the process. What is written there by a loop that fails must be
// gone, too.
const char *session_folder(void);

// A script that opens the loop with these settings and joins it to the phony peer, which is made here.
void session_begin(struct script *script, struct phony_peer *peer, enum rd_role role, enum rd_encrypt encrypt,
                   bool loop_dials);

// Acts as the input says until it is used up, or the session over.
void session_act(struct phony_peer *peer, struct fuzz_input *input);

#endif
