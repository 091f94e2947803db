// SPDX-License-Identifier: Apache-2.0
// A complete session of a loop against a phony peer, over one connection after another.
#ifndef RD_FUZZ_SESSION_H
#define RD_FUZZ_SESSION_H

#include "phony_peer.h"
#include "script_control.h"

#define SESSION_BUFFER_BYTES (64u << 10)

// How the loop gets its connections: it is given its only one, as TLS server or client, or it dials or listens.
enum session_way { SESSION_ADOPTS_SERVER, SESSION_ADOPTS_CLIENT, SESSION_DIALS, SESSION_LISTENS };

struct session {
  struct script script;
  struct phony_peer peer;
  enum session_way way;
  struct rd_hello hello; // the peer's; its epoch is the latest
  int listen_fd;         // SESSION_DIALS: the address that the loop dials
};

// Returns a directory in memory, empty at first, that disappears with the process.
const char *session_directory(void);

// Begins a script that opens the loop and connects it. The caller adds commands and then starts the script.
void session_begin(struct session *session, enum rd_role role, enum rd_encrypt encrypt, enum session_way way);

// Makes the peer's first connection, with its `hello`. Returns false if the connection failed.
bool session_join(struct session *session);
// Acts as the input says until it is used up, or the session is over.
void session_act(struct session *session, struct fuzz_input *input);
// The peer sends nothing more, and receives until the loop ends.
void session_end(struct session *session);
void session_clear(struct session *session);

#endif
