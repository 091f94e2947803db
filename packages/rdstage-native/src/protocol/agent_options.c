// SPDX-License-Identifier: Apache-2.0
#include "protocol/agent_options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define NONCE_MAX_CHARACTERS 128

enum {
  OPTION_AGENT = 256,
  OPTION_NONCE,
  OPTION_SUMS,
  OPTION_STDIN,
  OPTION_STDOUT,
  OPTION_LIMITS,
  OPTION_SERVED,
  OPTION_RIGHTS,
  OPTION_PORTS,
  OPTION_DIE_WITH_PARENT,
  OPTION_DIE_AFTER_PARENT,
  OPTION_OFFER
};

static bool take_descriptor(const char *text, int *fd, struct rd_error *error);
static bool check(int argc, char **argv, struct rd_agent_options *options, struct rd_error *error);
static bool check_served(const struct rd_agent_options *options, struct rd_error *error);
static bool check_nonce(const char *nonce, struct rd_error *error);
static bool usage(struct rd_error *error, const char *reason);

bool rd_agent_options_parse(int argc, char **argv, struct rd_agent_options *options, struct rd_error *error) {
  static const struct option names[] = {
      {"agent", no_argument, NULL, OPTION_AGENT},
      {"nonce", required_argument, NULL, OPTION_NONCE},
      {"sums", required_argument, NULL, OPTION_SUMS},
      {"user-stdin", required_argument, NULL, OPTION_STDIN},
      {"user-stdout", required_argument, NULL, OPTION_STDOUT},
      {"stage-limits", required_argument, NULL, OPTION_LIMITS},
      {"served", required_argument, NULL, OPTION_SERVED},
      {"rights", required_argument, NULL, OPTION_RIGHTS},
      {"ports", required_argument, NULL, OPTION_PORTS},
      {"die-with-parent", no_argument, NULL, OPTION_DIE_WITH_PARENT},
      {"die-after-parent", required_argument, NULL, OPTION_DIE_AFTER_PARENT},
      {"offer", no_argument, NULL, OPTION_OFFER},
      {"version", no_argument, NULL, 'V'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  *options = (struct rd_agent_options){.mode = RD_OPTIONS_HELP, .user_stdin = -1, .user_stdout = -1};
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "+Vh", names, NULL)) != -1;) {
    switch (option) {
    case OPTION_AGENT:
      options->mode = RD_OPTIONS_AGENT;
      break;
    case OPTION_DIE_WITH_PARENT:
      options->mode = RD_OPTIONS_DIE_WITH_PARENT;
      break;
    case OPTION_DIE_AFTER_PARENT:
      options->mode = RD_OPTIONS_DIE_AFTER_PARENT;
      if (!rd_die_after_parent_parse(optarg, &options->die_after_parent))
        return usage(error, "--die-after-parent takes PID,MS");
      break;
    case OPTION_OFFER:
      options->mode = RD_OPTIONS_OFFER;
      break;
    case OPTION_NONCE:
      options->nonce = optarg;
      break;
    case OPTION_SUMS:
      options->sums = optarg;
      break;
    case OPTION_STDIN:
      if (!take_descriptor(optarg, &options->user_stdin, error)) return false;
      break;
    case OPTION_STDOUT:
      if (!take_descriptor(optarg, &options->user_stdout, error)) return false;
      break;
    case OPTION_LIMITS:
      if (!rd_stage_limits_parse(optarg, &options->limits))
        return usage(error, "--stage-limits takes CORES,FILES as ulimit prints them");
      break;
    case OPTION_SERVED:
      if (!take_descriptor(optarg, &options->served.directory_fd, error)) return false;
      break;
    case OPTION_RIGHTS:
      if (!rd_rights_named(optarg, &options->served.rights)) return usage(error, "--rights takes read, write or both");
      break;
    case OPTION_PORTS:
      if (!rd_served_take_ports(&options->served, optarg)) return usage(error, "--ports takes two ports, A-B");
      break;
    case 'V':
      options->mode = RD_OPTIONS_VERSION;
      return true;
    case 'h':
      options->mode = RD_OPTIONS_HELP;
      return true;
    default:
      return usage(error, "unknown option, or its value is missing");
    }
  }
  return check(argc, argv, options, error);
}

static bool take_descriptor(const char *text, int *fd, struct rd_error *error) {
  char *end;
  errno = 0;
  long number = strtol(text, &end, 10);
  if (errno || end == text || *end || number < 3 || number > INT_MAX || fcntl((int)number, F_GETFD) < 0)
    return usage(error, "--user-stdin, --user-stdout and --served take an open descriptor above 2");
  *fd = (int)number;
  return true;
}

static bool check(int argc, char **argv, struct rd_agent_options *options, struct rd_error *error) {
  options->command = argv + optind;
  if (options->mode == RD_OPTIONS_DIE_WITH_PARENT)
    return optind < argc || usage(error, "--die-with-parent needs a command");
  if (options->mode == RD_OPTIONS_DIE_AFTER_PARENT)
    return optind < argc || usage(error, "--die-after-parent needs a command");
  if (options->mode == RD_OPTIONS_OFFER)
    return (optind < argc || usage(error, "--offer needs a program")) && check_nonce(options->nonce, error);
  if (options->mode != RD_OPTIONS_AGENT) return usage(error, "this program is started by rdpipe, with --agent");
  if (optind < argc) return usage(error, "--agent takes no further arguments");
  if (!check_served(options, error)) return false;
  return check_nonce(options->nonce, error);
}

static bool check_served(const struct rd_agent_options *options, struct rd_error *error) {
  const struct rd_served *served = &options->served;
  bool is_served = rd_served_is(served);
  if (is_served != (served->rights != RD_RIGHTS_NONE) || (!is_served && served->low_port > 0))
    return usage(error, "--served and --rights go together, and --ports with them");
  if (is_served && (options->user_stdin >= 0 || options->user_stdout >= 0))
    return usage(error, "a served session has no user");
  return true;
}

// The nonce is printed in the first line, where a space would end it.
static bool check_nonce(const char *nonce, struct rd_error *error) {
  if (nonce == NULL || !*nonce || strlen(nonce) > NONCE_MAX_CHARACTERS)
    return usage(error, "--agent and --offer need --nonce NONCE");
  for (const char *at = nonce; *at; at++)
    if (*at <= ' ' || *at > '~') return usage(error, "the nonce must be printable ASCII without spaces");
  return true;
}

static bool usage(struct rd_error *error, const char *reason) {
  rd_error_set(error, RD_CODE_USAGE, "%s", reason);
  return false;
}
