// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include "agent/agent_control.h"
#include "cli/confinement.h"
#include "cli/library_versions.h"
#include "crypto/key_derivation.h"
#include "crypto/key_prompt.h"
#include "crypto/key_words.h"
#include "sandbox/hardening.h"
#include "transport/tcp/long_path.h"
#include "transport/verbs/connector.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Length of a key chosen by a user; a shorter one is easily guessed from a recorded handshake.
#define KEY_MIN_CHARACTERS 16u

static int run(const struct rd_program *program, struct rd_options *options, struct rd_error *error);
static bool reserve_stdio(struct rd_error *error);
static int run_for_agent(const struct rd_program *program, const struct rd_options *options, struct rd_error *error);
static int run_standalone(const struct rd_program *program, struct rd_options *options, struct rd_error *error);
static bool obtain_key(const struct rd_program *program, struct rd_options *options, unsigned char key[RD_KEY_BYTES],
                       struct rd_error *error);
static bool read_key(struct rd_options *options, struct rd_error *error);
static enum rd_code run_loop(const struct rd_program *program, const struct rd_options *options,
                             struct rd_control *control, pid_t command);
static int print_information(const struct rd_program *program, const struct rd_options *options);
static int print_rdma_check(void);
static int print_failure(enum rd_role role, const struct rd_error *error, int status);

int rd_program_main(const struct rd_program *program, int argc, char **argv) {
  const struct rd_command_line *line = program->command_line;
  struct rd_options options;
  struct rd_error error;
  if (!rd_options_parse(line, argc, argv, &options, &error)) return print_failure(line->role, &error, 2);
  if (options.mode == RD_MODE_HELP || options.mode == RD_MODE_VERSION) return print_information(program, &options);
  if (options.mode == RD_MODE_RDMA_CHECK) return print_rdma_check();
  int status = run(program, &options, &error);
  return error.code == RD_CODE_OK ? status : print_failure(line->role, &error, status);
}

// Sets *error (its code is not RD_CODE_OK) if the program could not begin.
static int run(const struct rd_program *program, struct rd_options *options, struct rd_error *error) {
  error->code = RD_CODE_OK;
  rd_harden_process();
  signal(SIGPIPE, SIG_IGN);
  if (!reserve_stdio(error)) return rd_code_status(error->code);
  return options->mode == RD_MODE_AGENT ? run_for_agent(program, options, error)
                                        : run_standalone(program, options, error);
}

// If standard input, output or error is closed, a socket could get its number. Opens /dev/null there, for the opposite
// direction, so that every use fails.
static bool reserve_stdio(struct rd_error *error) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    if (open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) == fd) continue;
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot open /dev/null");
    return false;
  }
  return true;
}

static int run_for_agent(const struct rd_program *program, const struct rd_options *options, struct rd_error *error) {
  int stdio_fd = options->role == RD_ROLE_SENDER ? STDIN_FILENO : STDOUT_FILENO;
  struct rd_control *control = rd_agent_control_create(options->agent_fd, stdio_fd, error);
  if (control == NULL) return rd_code_status(error->code);
  enum rd_code code = run_loop(program, options, control, 0);
  rd_agent_control_destroy(control);
  if (code == RD_CODE_CLOSED) {
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
  return rd_code_status(code);
}

static int run_standalone(const struct rd_program *program, struct rd_options *options, struct rd_error *error) {
  unsigned char key[RD_KEY_BYTES];
  struct rd_control *control = NULL;
  if (obtain_key(program, options, key, error))
    control = rd_standalone_create(program->standalone, options, key, error);
  if (control == NULL) return rd_code_status(error->code);
  enum rd_code code = run_loop(program, options, control, rd_standalone_command(control));
  explicit_bzero(key, sizeof key);
  int status = rd_standalone_end(control, code);
  rd_standalone_destroy(control);
  return status;
}

static bool obtain_key(const struct rd_program *program, struct rd_options *options, unsigned char key[RD_KEY_BYTES],
                       struct rd_error *error) {
  if (!read_key(options, error)) return false;
  if (options->key_text[0] == '\0' && program->make_key != NULL && !program->make_key(options, error)) return false;
  unsigned mistyped = rd_key_words_mistyped(options->key_text);
  if (mistyped > 0) rd_error_set(error, RD_CODE_USAGE, "word %u of the key is mistyped", mistyped);
  bool made = mistyped == 0 && rd_key_from_text(options->key_text, key, error);
  options->key_is_short = strlen(options->key_text) < KEY_MIN_CHARACTERS;
  explicit_bzero(options->key_text, sizeof options->key_text);
  return made;
}

static bool read_key(struct rd_options *options, struct rd_error *error) {
  bool asked = strcmp(options->key_text, "-") == 0, receives = options->role == RD_ROLE_RECEIVER;
  if (!asked && options->key_fd >= 0) {
    rd_error_set(error, RD_CODE_USAGE, "with --key-fd, KEY must be -");
    return false;
  }
  if (asked && !rd_key_prompt(options->key_fd, receives, options->key_text, sizeof options->key_text, error))
    return false;
  // Otherwise the command would inherit the descriptor, and could read the key file again. Standard input, output and
  // error stay open.
  if (options->key_fd > STDERR_FILENO) close(options->key_fd);
  return true;
}

static enum rd_code run_loop(const struct rd_program *program, const struct rd_options *options,
                             struct rd_control *control, pid_t command) {
  rd_tcp_read_socket_limits();
  rd_program_confine(options, command);
  return program->loop(control);
}

static int print_information(const struct rd_program *program, const struct rd_options *options) {
  if (options->mode == RD_MODE_HELP)
    rd_options_write_help(program->command_line, stdout);
  else
    printf("%s " RD_VERSION "\n", rd_role_name(options->role));
  if (options->mode == RD_MODE_VERSION && options->verbose) rd_library_versions_print(stdout);
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

// Prints why RDMA cannot be used here, if it cannot (docs/protocol/hop-agent.md, section 3).
static int print_rdma_check(void) {
  struct rd_error error;
  if (rd_verbs_usable(&error)) return 0;
  puts(error.message);
  return fflush(stdout) == 0 ? rd_code_status(RD_CODE_CANNOT_CONNECT) : 1;
}

static int print_failure(enum rd_role role, const struct rd_error *error, int status) {
  fprintf(stderr, "%s: %s\n", rd_role_name(role), error->message);
  if (error->code == RD_CODE_USAGE) fprintf(stderr, "Try '%s --help' for more information.\n", rd_role_name(role));
  return status;
}
