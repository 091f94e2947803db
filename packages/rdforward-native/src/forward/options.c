// SPDX-License-Identifier: Apache-2.0
#include "forward/options.h"

#include <getopt.h>
#include <string.h>

const char rd_forward_help[] = "Usage: rdhop rdforward [-L SPEC]... [-R SPEC]... [-g] [-f] -- COMMAND [WORD]...\n"
                               "       rdhop rdforward --far\n"
                               "\n"
                               "Forward connections over the standard input and output of COMMAND, which runs\n"
                               "rdhop rdforward --far on another host. rdssh -L and -R start it; see rdssh(1).\n"
                               "\n"
                               "  -L, --local SPEC      listen here, dial there: [BIND:]PORT:HOST:HOSTPORT\n"
                               "  -R, --remote SPEC     listen there, dial here; port 0: choose a free one\n"
                               "                        [BIND:]PORT and HOST:HOSTPORT may be socket paths\n"
                               "  -g, --gateway-ports   let other hosts use -L that has no BIND\n"
                               "      --replace-sockets remove what is at the path of a socket before listening\n"
                               "      --keep-going      if a forward cannot listen, serve the others\n"
                               "  -f, --background      run in the background once all ports are open\n"
                               "  -h, --help            print this help\n";

bool rd_forward_options_parse(int argc, char **argv, struct rd_forward_options *options, struct rd_error *error) {
  enum { FAR = 256, REPLACE_SOCKETS, KEEP_GOING };
  static const struct option names[] = {{"local", required_argument, NULL, 'L'},
                                        {"remote", required_argument, NULL, 'R'},
                                        {"gateway-ports", no_argument, NULL, 'g'},
                                        {"replace-sockets", no_argument, NULL, REPLACE_SOCKETS},
                                        {"keep-going", no_argument, NULL, KEEP_GOING},
                                        {"background", no_argument, NULL, 'f'},
                                        {"help", no_argument, NULL, 'h'},
                                        {"far", no_argument, NULL, FAR},
                                        {NULL, 0, NULL, 0}};
  bool is_gateway = false, replaces_sockets = false, is_good = true;
  int letter;
  *options = (struct rd_forward_options){0};
  opterr = 0;
  optind = 1;
  while (is_good && (letter = getopt_long(argc, argv, "+L:R:gfh", names, NULL)) != -1) {
    if (letter == 'L') is_good = rd_specs_add(&options->local, optarg, false, error);
    if (letter == 'R') is_good = rd_specs_add(&options->remote, optarg, true, error);
    is_gateway = is_gateway || letter == 'g';
    replaces_sockets = replaces_sockets || letter == REPLACE_SOCKETS;
    options->keep_going = options->keep_going || letter == KEEP_GOING;
    options->background = options->background || letter == 'f';
    options->help = options->help || letter == 'h';
    options->is_far = options->is_far || letter == FAR;
    if (letter != '?') continue;
    rd_error_set(error, RD_CODE_USAGE, "%.200s: unknown option, or its value is missing", argv[optind - 1]);
    is_good = false;
  }
  if (!is_good) return false;
  if (is_gateway) rd_specs_open_to_all(&options->local);
  if (replaces_sockets) rd_specs_replace_sockets(&options->local);
  options->command = argv + optind;
  bool is_near = options->local.count + options->remote.count > 0 && *options->command != NULL;
  if (options->help || (options->is_far ? argc == 2 : is_near)) return true;
  rd_error_set(error, RD_CODE_USAGE, "-L or -R, and a command after --, are required");
  return false;
}

void rd_forward_options_clear(struct rd_forward_options *options) {
  rd_specs_clear(&options->local);
  rd_specs_clear(&options->remote);
}
