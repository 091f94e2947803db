// SPDX-License-Identifier: Apache-2.0
// The sending end of a hop: see man/rdsend.1 and docs/protocol.md.
#include "cli/program.h"

#include <stdio.h>

static int print_information(const struct rd_options *options);
static int print_failure(const struct rd_error *error, int status);

int main(int argc, char **argv) {
  struct rd_options options;
  struct rd_error error;
  if (!rd_options_parse(RD_ROLE_SENDER, argc, argv, &options, &error)) return print_failure(&error, 2);
  if (options.mode == RD_MODE_HELP || options.mode == RD_MODE_VERSION) return print_information(&options);
  int status = rd_program_run(&options, &error);
  return error.code == RD_CODE_OK ? status : print_failure(&error, status);
}

static int print_information(const struct rd_options *options) {
  if (options->mode == RD_MODE_VERSION)
    puts("rdsend " RD_VERSION);
  else
    rd_options_write_help(options->role, stdout);
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

static int print_failure(const struct rd_error *error, int status) {
  fprintf(stderr, "rdsend: %s\n", error->message);
  if (error->code == RD_CODE_USAGE) fputs("try: rdsend --help\n", stderr);
  return status;
}
