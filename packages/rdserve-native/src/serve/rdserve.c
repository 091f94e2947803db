// SPDX-License-Identifier: Apache-2.0
#include "serve/rdserve.h"

#include "serve/server.h"

int rd_serve_main(int argc, char **argv) {
  struct rd_serve_options options;
  struct rd_error error;
  if (!rd_serve_options_parse(argc, argv, &options, &error)) {
    fprintf(stderr, "rdrecv: %s\nTry 'rdrecv --serve DIR --help' for more information.\n", error.message);
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
