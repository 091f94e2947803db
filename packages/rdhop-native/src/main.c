// SPDX-License-Identifier: Apache-2.0
// rdsend and rdrecv, the two ends of a hop, and the front of rdssh: see their manual pages.
#include "cli/library_versions.h"
#include "cli/program.h"
#include "forward/forward.h"
#include "gather/gather.h"
#include "recv_loop.h"
#include "send_loop.h"
#include "serve/server.h"
#include "ssh/front.h"
#include "transport/verbs/connector.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

static bool find_role(int *argc, char ***argv, enum rd_role *role);
static bool is_name(const char *word, enum rd_role *role);
static int run_other(int argc, char **argv);
static int run_front(int argc, char **argv);
static int serve(int argc, char **argv);
static int print_information(const struct rd_options *options);
static int print_rdma_check(void);
static int print_failure(enum rd_role role, const struct rd_error *error, int status);
static int finish_output(void);

int main(int argc, char **argv) {
  struct rd_options options;
  struct rd_error error;
  enum rd_role role;
  if (!find_role(&argc, &argv, &role)) return run_other(argc, argv);
  prctl(PR_SET_NAME, rd_role_name(role)); // ps shows it
  if (role == RD_ROLE_RECEIVER && rd_serve_is_asked_for(argc, argv)) return serve(argc, argv);
  if (!rd_options_parse(role, argc, argv, &options, &error)) return print_failure(role, &error, 2);
  if (options.mode == RD_MODE_HELP || options.mode == RD_MODE_VERSION) return print_information(&options);
  if (options.mode == RD_MODE_RDMA_CHECK) return print_rdma_check();
  int status = rd_program_run(&options, role == RD_ROLE_SENDER ? rd_send_loop : rd_recv_loop, &error);
  return error.code == RD_CODE_OK ? status : print_failure(role, &error, status);
}

// By the name of the program, else by its first word, which is then taken for the name: packages that cannot hold links
// have the program once.
static bool find_role(int *argc, char ***argv, enum rd_role *role) {
  if (*argc > 0 && is_name((*argv)[0], role)) return true;
  if (*argc < 2 || !is_name((*argv)[1], role)) return false;
  (*argc)--;
  (*argv)++;
  return true;
}

static bool is_name(const char *word, enum rd_role *role) {
  const char *slash = strrchr(word, '/');
  const char *name = slash != NULL ? slash + 1 : word;
  *role = strcmp(name, rd_role_name(RD_ROLE_SENDER)) == 0 ? RD_ROLE_SENDER : RD_ROLE_RECEIVER;
  return strcmp(name, rd_role_name(*role)) == 0;
}

// Neither end of a hop. A host to which the program was copied is asked whether it runs there.
static int run_other(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], RD_FORWARD_NAME) == 0) {
    prctl(PR_SET_NAME, RD_FORWARD_NAME);
    return rd_forward_main(argc - 1, argv + 1);
  }
  if (argc > 1 && strcmp(argv[1], RD_GATHER_NAME) == 0) {
    prctl(PR_SET_NAME, RD_GATHER_NAME);
    return rd_gather_main(argc - 1, argv + 1);
  }
  if (argc > 1 && strcmp(argv[1], "rdssh") == 0) return run_front(argc - 1, argv + 1);
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    puts("rdhop " RD_VERSION);
    return finish_output();
  }
  fputs("usage: rdhop rdsend|rdrecv|rdforward ...: man rdsend, man rdrecv\n", stderr);
  return 2;
}

// ssh ends with 255 when it could not do its part.
static int run_front(int argc, char **argv) {
  struct rd_error error;
  rd_ssh_front_run(argc, argv, &error);
  fprintf(stderr, "rdssh: %s\n", error.message);
  return 255;
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
    return finish_output();
  }
  int status = rd_serve_run(&options, &error);
  if (error.code != RD_CODE_OK) fprintf(stderr, "rdrecv: %s\n", error.message);
  return status;
}

static int print_information(const struct rd_options *options) {
  if (options->mode == RD_MODE_HELP)
    rd_options_write_help(options->role, stdout);
  else
    printf("%s " RD_VERSION "\n", rd_role_name(options->role));
  if (options->mode == RD_MODE_VERSION && options->verbose) rd_library_versions_print(stdout);
  return finish_output();
}

// Why RDMA cannot be used here, if it cannot (docs/protocol.md, section 3).
static int print_rdma_check(void) {
  struct rd_error error;
  if (rd_verbs_usable(&error)) return 0;
  puts(error.message);
  return fflush(stdout) == 0 ? rd_code_status(RD_CODE_CANNOT_CONNECT) : 1;
}

static int print_failure(enum rd_role role, const struct rd_error *error, int status) {
  fprintf(stderr, "%s: %s\n", rd_role_name(role), error->message);
  if (error->code == RD_CODE_USAGE) fprintf(stderr, "try: %s --help\n", rd_role_name(role));
  return status;
}

static int finish_output(void) {
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
