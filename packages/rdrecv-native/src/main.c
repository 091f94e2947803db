// SPDX-License-Identifier: Apache-2.0
// The receiving end of a hop: see man/rdrecv.1 and docs/protocol.md.
#include "cli/program.h"
#include "serve/server.h"
#include "transport/verbs/connector.h"

#include <stdio.h>

static int serve(int argc, char **argv);
static int print_information(const struct rd_options *options);
static int print_rdma_check(void);
static int print_failure(const struct rd_error *error, int status);

int main(int argc, char **argv) {
  struct rd_options options;
  struct rd_error error;
  if (rd_serve_is_asked_for(argc, argv)) return serve(argc, argv);
  if (!rd_options_parse(RD_ROLE_RECEIVER, argc, argv, &options, &error)) return print_failure(&error, 2);
  if (options.mode == RD_MODE_HELP || options.mode == RD_MODE_VERSION) return print_information(&options);
  if (options.mode == RD_MODE_RDMA_CHECK) return print_rdma_check();
  int status = rd_program_run(&options, &error);
  return error.code == RD_CODE_OK ? status : print_failure(&error, status);
}

static int serve(int argc, char **argv) {
  struct rd_serve_options options;
  struct rd_error error;
  if (!rd_serve_options_parse(argc, argv, &options, &error)) {
    fprintf(stderr, "rdrecv: %s\ntry: rdrecv --serve DIR --help\n", error.message);
    return 2;
  }
  if (options.help) {
    rd_serve_options_write_help(stdout);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
  }
  int status = rd_serve_run(&options, &error);
  if (error.code != RD_CODE_OK) fprintf(stderr, "rdrecv: %s\n", error.message);
  return status;
}

static int print_information(const struct rd_options *options) {
  if (options->mode == RD_MODE_VERSION)
    puts("rdrecv " RD_VERSION);
  else
    rd_options_write_help(options->role, stdout);
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

// Why RDMA cannot be used here, if it cannot (docs/protocol.md, section 3).
static int print_rdma_check(void) {
  struct rd_error error;
  if (rd_verbs_usable(&error)) return 0;
  puts(error.message);
  return fflush(stdout) == 0 ? rd_code_status(RD_CODE_CANNOT_CONNECT) : 1;
}

static int print_failure(const struct rd_error *error, int status) {
  fprintf(stderr, "rdrecv: %s\n", error->message);
  if (error->code == RD_CODE_USAGE) fputs("try: rdrecv --help\n", stderr);
  return status;
}
