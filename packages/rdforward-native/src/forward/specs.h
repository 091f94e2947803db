// SPDX-License-Identifier: Apache-2.0
// The arguments of -L and -R, in ssh's syntax: addresses to listen on, and their targets.
#ifndef RD_FORWARD_SPECS_H
#define RD_FORWARD_SPECS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RD_SPECS_MAX 1024u // of each kind
#define RD_PLACE_BYTES 1025u

// A TCP port or a local socket.
struct rd_place {
  // A path if it begins with '/'. For a listener also "" or "localhost": only this host, or "*": every address.
  char address[RD_PLACE_BYTES];
  uint16_t port;        // for a listener 0: any free port; for a path 0
  bool replaces_socket; // of a listener with a path: removes what is there first
};

struct rd_spec {
  struct rd_place listen, target;
};

struct rd_specs {
  struct rd_spec *items;
  size_t count;
};

// Adds `[BIND:]PORT:HOST:HOSTPORT`, `[BIND:]PORT:SOCKET`, `SOCKET:HOST:HOSTPORT` or `SOCKET:SOCKET`. `is_remote`: an
// argument of -R, in which port 0 is any free one. Returns false (RD_CODE_USAGE) if the text has another form.
bool rd_specs_add(struct rd_specs *specs, const char *text, bool is_remote, struct rd_error *error);
// Lets listeners without an address listen on every address, as ssh's -g does.
void rd_specs_open_to_all(struct rd_specs *specs);
// Lets listeners with a path remove what is there, as ssh's StreamLocalBindUnlink does.
void rd_specs_replace_sockets(struct rd_specs *specs);
void rd_specs_clear(struct rd_specs *specs);

bool rd_place_is_path(const struct rd_place *place);
// Stores "localhost:5432", "[::1]:80", "/run/x.sock"; "port 80" for a listener without an address.
#define RD_PLACE_TEXT_BYTES 128u
void rd_place_text(const struct rd_place *place, char text[RD_PLACE_TEXT_BYTES]);

#endif
