// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include "agent/control.h"
#include "cli/standalone.h"
#include "crypto/key_derivation.h"
#include "crypto/key_offer.h"
#include "crypto/key_prompt.h"
#include "sandbox/hardening.h"
#include "sandbox/sandbox.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

// Of a key that a user chose; a shorter one is easily guessed from a recorded handshake.
#define KEY_LEAST_CHARACTERS 16u

static bool reserve_stdio(struct rd_error *error);
static int run_for_agent(const struct rd_options *options, rd_loop_function *loop, struct rd_error *error);
static int run_standalone(struct rd_options *options, rd_loop_function *loop, struct rd_error *error);
static bool obtain_key(struct rd_options *options, unsigned char key[RD_KEY_BYTES], struct rd_key_offer *offer,
                       struct rd_error *error);
static bool read_key(struct rd_options *options, struct rd_error *error);
static bool offer_key(struct rd_options *options, struct rd_key_offer *offer, struct rd_error *error);
static enum rd_code run_loop(const struct rd_options *options, rd_loop_function *loop, struct rd_control *control,
                             pid_t command);

int rd_program_run(struct rd_options *options, rd_loop_function *loop, struct rd_error *error) {
  error->code = RD_CODE_OK;
  rd_harden_process();
  signal(SIGPIPE, SIG_IGN);
  if (!reserve_stdio(error)) return rd_code_status(error->code);
  return options->mode == RD_MODE_AGENT ? run_for_agent(options, loop, error) : run_standalone(options, loop, error);
}

// If standard input, output or error is closed, a socket could get its number. Opens /dev/null there, for the other
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

static int run_for_agent(const struct rd_options *options, rd_loop_function *loop, struct rd_error *error) {
  int stdio_fd = options->role == RD_ROLE_SENDER ? STDIN_FILENO : STDOUT_FILENO;
  struct rd_control *control = rd_agent_control_create(options->agent_fd, stdio_fd, error);
  if (control == NULL) return rd_code_status(error->code);
  enum rd_code code = run_loop(options, loop, control, 0);
  rd_agent_control_destroy(control);
  if (code == RD_CODE_CLOSED) {
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
  return rd_code_status(code);
}

static int run_standalone(struct rd_options *options, rd_loop_function *loop, struct rd_error *error) {
  unsigned char key[RD_KEY_BYTES];
  struct rd_key_offer offer = RD_NO_KEY_OFFER;
  struct rd_control *control = NULL;
  if (obtain_key(options, key, &offer, error)) control = rd_standalone_create(options, key, &offer, error);
  if (control == NULL) return rd_code_status(error->code);
  enum rd_code code = run_loop(options, loop, control, rd_standalone_command(control));
  explicit_bzero(key, sizeof key);
  int status = rd_standalone_end(control, code);
  rd_standalone_destroy(control);
  return status;
}

static bool obtain_key(struct rd_options *options, unsigned char key[RD_KEY_BYTES], struct rd_key_offer *offer,
                       struct rd_error *error) {
  if (!read_key(options, error)) return false;
  if (options->key_text[0] == '\0' && !offer_key(options, offer, error)) return false;
  unsigned mistyped = rd_key_words_mistyped(options->key_text);
  if (mistyped > 0) rd_error_set(error, RD_CODE_USAGE, "word %u of the key is mistyped", mistyped);
  bool made = mistyped == 0 && rd_key_from_text(options->key_text, key, error);
  options->key_is_short = strlen(options->key_text) < KEY_LEAST_CHARACTERS;
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
  // The command would inherit the descriptor, and could read the key file again. Standard input has other uses.
  if (options->key_fd > STDERR_FILENO) close(options->key_fd);
  return true;
}

// The user must carry the key to the sender first, so the listener waits without a limit.
static bool offer_key(struct rd_options *options, struct rd_key_offer *offer, struct rd_error *error) {
  if (!rd_key_offer_make(offer, error)) return false;
  memcpy(options->key_text, offer->words, sizeof offer->words);
  if (!options->limits_waiting) options->settings.listen_timeout_ms = 0;
  return true;
}

static enum rd_code run_loop(const struct rd_options *options, rd_loop_function *loop, struct rd_control *control,
                             pid_t command) {
  bool by_agent = options->mode == RD_MODE_AGENT;
  rd_sandbox_enter(&(struct rd_syscall_profile){.rdma = by_agent || options->transport != RD_TRANSPORT_TCP,
                                                .kills = by_agent && options->role == RD_ROLE_RECEIVER,
                                                .group = command});
  return loop(control);
}
