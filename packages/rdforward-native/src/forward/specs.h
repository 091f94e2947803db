// SPDX-License-Identifier: Apache-2.0
// What -L and -R say, in the words of ssh: where to listen, and what to dial for each connection.
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
  // A path if it begins with '/'. Of a listener also "": this host alone, or "*": every address.
  char address[RD_PLACE_BYTES];
  uint16_t port; // of a listener 0: any free one; of a path 0
};

struct rd_spec {
  struct rd_place listen, target;
};

struct rd_specs {
  struct rd_spec *items;
  size_t count;
};

// Adds `[BIND:]PORT:HOST:HOSTPORT`, `[BIND:]PORT:SOCKET`, `SOCKET:HOST:HOSTPORT` or `SOCKET:SOCKET`. `is_remote`: of
// -R, where port 0 is any free one. False (RD_CODE_USAGE): it is none of these.
bool rd_specs_add(struct rd_specs *specs, const char *text, bool is_remote, struct rd_error *error);
// Listeners without an address are for every address, as ssh's -g has it.
void rd_specs_open_to_all(struct rd_specs *specs);
void rd_specs_clear(struct rd_specs *specs);

bool rd_place_is_path(const struct rd_place *place);
// "localhost:5432", "[::1]:80", "/run/x.sock"; a listener without an address is "port 80".
#define RD_PLACE_TEXT_BYTES 128u
void rd_place_text(const struct rd_place *place, char text[RD_PLACE_TEXT_BYTES]);

#endif
