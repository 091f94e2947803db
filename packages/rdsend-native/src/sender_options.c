// SPDX-License-Identifier: Apache-2.0
#include "sender_options.h"

#include "base/size_text.h"

#include <string.h>

#define COMPRESS_LEVEL_DEFAULT 1

static bool parse_connect_timeout(void *to, const char *text);
static bool parse_compress(void *to, const char *text);
static bool parse_limit(void *to, const char *text);
static bool take_operands(struct rd_options *options, int count, char **operands, struct rd_error *error);

// The order is that of --help.
static const struct rd_option_row rows[] = {
    RD_OPTION_VALUE("connect-timeout", "S", parse_connect_timeout, "a number of seconds, at least 0.001",
                    "give up if not connected within S seconds (10)"),
    RD_OPTION_VALUE("compress", "WHAT", parse_compress, "zstd, zstd:LEVEL (1 to 19) or none",
                    "compress: zstd[:LEVEL] (1 to 19; default 1) or none\n"
                    "(default)"),
    RD_OPTION_VALUE("limit", "RATE", parse_limit, "a rate from 1 B/s to 1 PiB/s, or none",
                    "limit the rate: 200M, 200MiB/s, 1Gbit/s; or none"),
    {0},
};

static const struct rd_option_row others[] = {{.name = "bind", .value = "ADDRESS"}, {.name = "rdma-check"}, {0}};

const struct rd_command_line rd_sender_command_line = {
    .role = RD_ROLE_SENDER,
    .usage = "Usage: rdsend [options] HOST PORT KEY [FILE | -- COMMAND...]\n"
             "Send standard input, FILE, or the output of COMMAND to rdrecv on HOST.\n"
             "HOST may be several addresses, separated by commas: all of them are used.\n"
             "FILE may be a directory: DIR sends the directory, DIR/ only its contents.\n\n",
    .rows = rows,
    .others = others,
    .others_program = "rdrecv",
    .key_at = 2,
    .take_operands = take_operands,
};

static bool parse_connect_timeout(void *to, const char *text) {
  struct rd_options *options = to;
  options->limits_waiting = true;
  return rd_options_seconds(text, 1, &options->settings.connect_timeout_ms);
}

static bool parse_compress(void *to, const char *text) {
  struct rd_options *options = to;
  long level = strcmp(text, "zstd") == 0 ? COMPRESS_LEVEL_DEFAULT : 0;
  bool has_level = strncmp(text, "zstd:", 5) == 0;
  if (has_level && !rd_option_number(text + 5, 1, RD_COMPRESS_MAX, &level)) return false;
  options->settings.compress = level;
  return level > 0 || strcmp(text, "none") == 0;
}

static bool parse_limit(void *to, const char *text) {
  struct rd_options *options = to;
  double bytes = 0;
  bool is_none = strcmp(text, "none") == 0;
  if (!is_none && (!rd_read_rate(text, &bytes) || bytes < 1 || bytes > (double)RD_LIMIT_MAX)) return false;
  options->settings.limit = (int64_t)bytes;
  return true;
}

static bool take_operands(struct rd_options *options, int count, char **operands, struct rd_error *error) {
  if (count < 2 || options->key_text[0] == '\0') {
    rd_error_set(error, RD_CODE_USAGE, "HOST, PORT and KEY are needed");
    return false;
  }
  options->host = operands[0];
  size_t addresses = 1;
  for (const char *comma = options->host; (comma = strchr(comma, ',')) != NULL; comma++) addresses++;
  if (addresses > RD_RAILS_MAX) {
    rd_error_set(error, RD_CODE_USAGE, "HOST has more than %u addresses", RD_RAILS_MAX);
    return false;
  }
  if (addresses > 1 && options->settings.streams == 0) options->settings.streams = (int64_t)addresses;
  return rd_options_take_port(options, operands[1], 1, error) && rd_options_take_data(options, operands + 3, error);
}
