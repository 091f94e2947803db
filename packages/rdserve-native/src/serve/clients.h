// SPDX-License-Identifier: Apache-2.0
// The clients of a server: their keys, directories and rights.
#ifndef RD_SERVE_CLIENTS_H
#define RD_SERVE_CLIENTS_H

#include "serve/options.h"
#include "serve/tls_service.h"

#include <stddef.h>

struct rd_client_grant {
  int directory_fd; // O_PATH
  enum rd_rights rights;
};

struct rd_clients {
  struct rd_tls_client *keys;     // `count` keys
  struct rd_client_grant *places; // in the same order
  size_t count;
};

// Reads --keyfile and --config. Returns NULL (RD_CODE_USAGE, with the file) if a part cannot be used. Free with
// rd_clients_destroy(), which wipes the keys.
struct rd_clients *rd_clients_load(const struct rd_serve_options *options, struct rd_error *error);
void rd_clients_destroy(struct rd_clients *clients); // NULL-safe
// Returns NULL if there is no client of that name.
const struct rd_client_grant *rd_clients_place(const struct rd_clients *clients, const char *name);

#endif
