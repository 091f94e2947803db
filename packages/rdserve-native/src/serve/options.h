// SPDX-License-Identifier: Apache-2.0
// The command line of rdrecv --serve.
#ifndef RD_SERVE_OPTIONS_H
#define RD_SERVE_OPTIONS_H

#include "base/error.h"
#include "base/tree_role.h"

#include <stdint.h>
#include <stdio.h>

#define RD_SERVE_PORT 10470u
#define RD_SERVE_CLIENTS 32u

// The pointers point into argv.
struct rd_serve_options {
  const char *directory;
  const char *bind;                   // NULL: every address
  const char *key_file, *client_file; // NULL: none; at least one is set
  uint16_t port;
  uint16_t low_port, high_port; // for the ends of hops; 0: any
  unsigned most_clients;
  bool reads_only, writes_only;
  enum rd_rights rights;
  int64_t drain_ms; // 0: no limit
  bool json, help;
};

// Returns true if `--serve` is among the options of argv.
bool rd_serve_is_asked_for(int argc, char **argv);
// Returns false (RD_CODE_USAGE) if an option is unknown, missing or invalid.
bool rd_serve_options_parse(int argc, char **argv, struct rd_serve_options *options, struct rd_error *error);
void rd_serve_options_write_help(FILE *out);

#endif
