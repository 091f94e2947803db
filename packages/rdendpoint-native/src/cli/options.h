// SPDX-License-Identifier: Apache-2.0
// The part of the command lines that rdsend and rdrecv share.
#ifndef RD_CLI_OPTIONS_H
#define RD_CLI_OPTIONS_H

#include "base/option_table.h"
#include "hop/control.h"

enum rd_mode { RD_MODE_STANDALONE, RD_MODE_AGENT, RD_MODE_RDMA_CHECK, RD_MODE_HELP, RD_MODE_VERSION };
enum rd_transport_choice { RD_TRANSPORT_AUTO, RD_TRANSPORT_RDMA, RD_TRANSPORT_TCP };
enum rd_progress { RD_PROGRESS_AUTO, RD_PROGRESS_LIVE, RD_PROGRESS_PLAIN, RD_PROGRESS_NONE };

// Its pointers point into argv.
struct rd_options {
  enum rd_mode mode;
  enum rd_role role;
  int agent_fd;
  const char *host; // only rdsend
  uint16_t port;
  char key_text[1024]; // "-": prompt, or read key_fd; "" (rdrecv only): generate a key; wiped from argv
  int key_fd;          // -1: none
  const char *file;    // NULL: standard input or output, or the command
  char **command;      // NULL, or a list that ends with NULL
  enum rd_transport_choice transport;
  enum rd_progress progress;
  bool verbose, quiet, json;
  bool acls, xattrs;           // for a tree
  bool limits_waiting;         // --connect-timeout was given
  bool key_is_short;           // easy to guess; set once the key is known, not by rd_options_parse()
  struct rd_settings settings; // without the key
};

// The command line of one end; in --help its own options come before the shared ones.
struct rd_command_line {
  enum rd_role role;
  const char *usage;                  // the beginning of --help
  const struct rd_option_row *rows;   // for struct rd_options
  const struct rd_option_row *others; // of the other end, only for the error message
  const char *others_program;
  int key_at; // the index of KEY among the operands
  // Parses the words after the options; the list ends with NULL. Returns false on error (RD_CODE_USAGE).
  bool (*take_operands)(struct rd_options *options, int count, char **operands, struct rd_error *error);
};

// Parses argv and wipes the key in it, even after a mistake in another argument. Returns false on error
// (RD_CODE_USAGE).
bool rd_options_parse(const struct rd_command_line *line, int argc, char **argv, struct rd_options *options,
                      struct rd_error *error);

// Returns `rdsend` or `rdrecv`.
const char *rd_role_name(enum rd_role role);

// Prints the text of --help.
void rd_options_write_help(const struct rd_command_line *line, FILE *out);

// Parse the operands of an end: PORT, and what follows KEY. Return false on error (RD_CODE_USAGE).
bool rd_options_take_port(struct rd_options *options, const char *text, uint16_t least, struct rd_error *error);
bool rd_options_take_data(struct rd_options *options, char **rest, struct rd_error *error);
// Parsers for the options of an end.
bool rd_options_seconds(const char *text, int64_t least_ms, int64_t *out_ms);
bool rd_options_choose_rdma_check(void *to, const char *text);

#endif
