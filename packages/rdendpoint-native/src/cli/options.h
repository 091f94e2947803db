// SPDX-License-Identifier: Apache-2.0
// The command lines of rdsend and rdrecv.
#ifndef RD_CLI_OPTIONS_H
#define RD_CLI_OPTIONS_H

#include "hop/control.h"

#include <stdio.h>

enum rd_mode { RD_MODE_STANDALONE, RD_MODE_AGENT, RD_MODE_RDMA_CHECK, RD_MODE_HELP, RD_MODE_VERSION };
enum rd_transport_choice { RD_TRANSPORT_AUTO, RD_TRANSPORT_RDMA, RD_TRANSPORT_TCP };
enum rd_progress { RD_PROGRESS_AUTO, RD_PROGRESS_LIVE, RD_PROGRESS_PLAIN, RD_PROGRESS_NONE };

// Its pointers point into argv.
struct rd_options {
  enum rd_mode mode;
  enum rd_role role;
  int agent_fd;
  const char *host; // of rdsend
  uint16_t port;
  char key_text[1024]; // "-": prompt, or read key_fd; "", of rdrecv: generate one; overwritten in argv
  int key_fd;          // -1: none
  const char *file;    // NULL: standard input or output, or the command
  char **command;      // NULL, or ended by NULL
  enum rd_transport_choice transport;
  enum rd_progress progress;
  bool verbose, quiet, json;
  bool acls, xattrs;           // of a tree
  bool limits_waiting;         // --connect-timeout was given
  bool key_is_short;           // it can be guessed; set when the key is known, not by rd_options_parse()
  struct rd_settings settings; // without the key
};

// Overwrites the key in argv, also after a mistake in another argument. False: RD_CODE_USAGE.
bool rd_options_parse(enum rd_role role, int argc, char **argv, struct rd_options *options, struct rd_error *error);

// `rdsend` or `rdrecv`.
const char *rd_role_name(enum rd_role role);

// Writes what --help prints.
void rd_options_write_help(enum rd_role role, FILE *out);

#endif
