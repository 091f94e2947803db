// SPDX-License-Identifier: Apache-2.0
#include "receiver_options.h"

#include <string.h>

static bool parse_bind(void *to, const char *text);
static bool parse_connect_timeout(void *to, const char *text);
static bool take_operands(struct rd_options *options, int count, char **operands, struct rd_error *error);

// The order is that of --help.
static const struct rd_option_row rows[] = {
    RD_OPTION_VALUE("bind", "ADDRESS", parse_bind, "an address of this machine",
                    "listen only on this address (default: all)"),
    RD_OPTION_VALUE("connect-timeout", "S", parse_connect_timeout, "a number of seconds, at least 0.001",
                    "give up if not connected within S seconds (10; 0\n"
                    "for no limit, the default with a generated key)"),
    {0, "rdma-check", NULL, rd_options_choose_rdma_check, NULL, 0, NULL}, // used by rdstage
    {0},
};

static const struct rd_option_row others[] = {
    {.name = "compress", .value = "WHAT"}, {.name = "limit", .value = "RATE"}, {0}};

const struct rd_command_line rd_receiver_command_line = {
    .role = RD_ROLE_RECEIVER,
    .usage = "Usage: rdrecv [options] PORT [KEY [FILE]] [-- COMMAND...]\n"
             "Receive a stream from rdsend and write it to standard output, FILE, or the\n"
             "input of COMMAND. If FILE is a directory, or ends with /, receive a directory\n"
             "tree into it. PORT 0 chooses a free port and prints it on standard error.\n"
             "Without KEY, rdrecv generates one and shows it on the terminal, with the\n"
             "command for the sender.\n"
             "To serve copies to clients: rdrecv --serve DIR (see rdrecv --serve DIR --help).\n\n",
    .rows = rows,
    .others = others,
    .others_program = "rdsend",
    .key_at = 1,
    .take_operands = take_operands,
};

static bool parse_bind(void *to, const char *text) {
  struct rd_options *options = to;
  int length = snprintf(options->settings.bind_host, sizeof options->settings.bind_host, "%s", text);
  return length > 0 && (size_t)length < sizeof options->settings.bind_host;
}

// 0: wait without a limit.
static bool parse_connect_timeout(void *to, const char *text) {
  struct rd_options *options = to;
  options->limits_waiting = true;
  options->settings.listen_timeout_ms = 0;
  return strcmp(text, "0") == 0 || rd_options_seconds(text, 1, &options->settings.listen_timeout_ms);
}

static bool take_operands(struct rd_options *options, int count, char **operands, struct rd_error *error) {
  if (count < 1) {
    rd_error_set(error, RD_CODE_USAGE, "PORT is needed");
    return false;
  }
  int after_key = options->key_text[0] != '\0' ? 2 : 1;
  return rd_options_take_port(options, operands[0], 0, error) &&
         rd_options_take_data(options, operands + after_key, error);
}
