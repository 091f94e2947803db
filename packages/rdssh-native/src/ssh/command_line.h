// SPDX-License-Identifier: Apache-2.0
// A command line of ssh, parsed as ssh(1) does; decides whether rdssh can run it or ssh itself must.
#ifndef RD_SSH_COMMAND_LINE_H
#define RD_SSH_COMMAND_LINE_H

#include <stdbool.h>
#include <stddef.h>

enum rd_ssh_use {
  RD_SSH_ITSELF,   // not a plain command: a terminal, a login shell, a tunnel, a mistake
  RD_SSH_COMMAND,  // a command, or the sftp subsystem, with plain input and output
  RD_SSH_FORWARDS, // -N with only -L and -R
  RD_SSH_HELP,     // --help or --version, which ssh does not support
};

struct rd_ssh_words {
  const char **items; // borrowed from argv, or from `texts` of the command line
  size_t count;
};

struct rd_ssh_command_line {
  enum rd_ssh_use use;
  const char *reason;           // RD_SSH_ITSELF: why, such as "it has no command"; otherwise NULL
  struct rd_ssh_words options;  // values of -o equivalent to the options given, the one that takes effect first
  struct rd_ssh_words own;      // rdpipe's options: --NAME or --NAME=VALUE, before the host
  struct rd_ssh_words forwards; // -L SPEC and -R SPEC, two words each, in order
  struct rd_ssh_words command;  // words of the command, or the name of the subsystem
  struct rd_ssh_words keys;     // files of -i, also in `options`
  struct rd_ssh_words texts;    // owned strings
  const char *host;             // without the user
  const char *config_file;      // -F; NULL: none
  const char *log_file;         // -E; NULL: none
  const char *ssh_program;      // --ssh-program=PATH; NULL: none
  unsigned verbose;             // -v
  bool quiet, no_input, subsystem, background, compress, gateway_ports;
};

// Parses argv[1..]. A single -t does not require ssh itself if standard input is not a terminal, because ssh allocates
// no terminal then. An option that only ssh supports does not end the parsing: a later -v also counts. Borrows the
// texts of argv. Destroy the result in any case.
void rd_ssh_command_line_parse(struct rd_ssh_command_line *line, int argc, char **argv, bool is_terminal);
void rd_ssh_command_line_destroy(struct rd_ssh_command_line *line); // NULL-safe

#endif
