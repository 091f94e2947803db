// SPDX-License-Identifier: Apache-2.0
// Tests of the agent's command line.
#include "protocol/agent_options.h"
#include "test.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>

#define ARGUMENTS_MAX 16

static struct rd_agent_options options;

static bool parses(const char *line) {
  static char text[512];
  static char *argv[ARGUMENTS_MAX]; // the options point into this array
  memset(argv, 0, sizeof argv);
  int argc = 0;
  struct rd_error error;
  snprintf(text, sizeof text, "rdstage %s", line);
  for (char *word = strtok(text, " "); word != NULL && argc < ARGUMENTS_MAX - 1; word = strtok(NULL, " "))
    argv[argc++] = word;
  optind = 0; // parse from the beginning
  bool parsed = rd_agent_options_parse(argc, argv, &options, &error);
  return CHECK(parsed || error.code == RD_CODE_USAGE) && parsed;
}

int main(void) {
  CHECK(parses("--agent --nonce a-1") && options.mode == RD_OPTIONS_AGENT && strcmp(options.nonce, "a-1") == 0);
  CHECK(options.sums == NULL && parses("--agent --nonce a --sums rdsend=1,rdrecv=2"));
  CHECK(strcmp(options.sums, "rdsend=1,rdrecv=2") == 0);
  CHECK(options.user_stdin == -1 && options.user_stdout == -1);
  CHECK(!parses("--agent") && !parses("--agent --nonce") && !parses("--agent --nonce x y") && !parses(""));
  CHECK(!parses("--agent --nonce a\tb"));
  CHECK(!parses("--agent --nonce x --user-stdin 0") && !parses("--agent --nonce x --user-stdout 3x"));
  CHECK(!parses("--agent --nonce x --user-stdin 9999"));
  CHECK(parses("--agent --nonce x") && !options.limits.given);
  CHECK(parses("--agent --nonce x --stage-limits 8,1024") && options.limits.given);
  CHECK(options.limits.core_bytes == 4096 && options.limits.files == 1024);
  CHECK(parses("--agent --nonce x --stage-limits unlimited,20") && options.limits.core_bytes == RLIM_INFINITY);
  CHECK(!parses("--agent --nonce x --stage-limits 8") && !parses("--agent --nonce x --stage-limits -8,1"));
  CHECK(!parses("--agent --nonce x --stage-limits 8,1,1") && !parses("--agent --nonce x --stage-limits ,"));
  CHECK(!parses("--agent --nonce x --stage-limits 99999999999999999999,1"));
  CHECK(!parses("--agent --nonce x --stage-limits 40000000000000000,1"));
  CHECK(parses("--die-with-parent sh -c x") && options.mode == RD_OPTIONS_DIE_WITH_PARENT &&
        strcmp(options.command[1], "-c") == 0);
  CHECK(!parses("--die-with-parent") && !parses("--other") && !parses("word"));
  CHECK(parses("--die-after-parent 7,250 sh -c x") && options.mode == RD_OPTIONS_DIE_AFTER_PARENT &&
        options.die_after_parent.parent == 7 && options.die_after_parent.grace_ms == 250 &&
        strcmp(options.command[0], "sh") == 0);
  CHECK(!parses("--die-after-parent 7,250") && !parses("--die-after-parent 7 sh"));
  CHECK(!parses("--die-after-parent 0,1 sh") && !parses("--die-after-parent 7,1, sh"));
  CHECK(!parses("--die-after-parent 99999999999,1 sh") && !parses("--die-after-parent 7,-1 sh"));
  CHECK(parses("--offer --nonce x --ports 7-9 -- a b") && options.mode == RD_OPTIONS_OFFER &&
        options.served.low_port == 7 && options.served.high_port == 9 && strcmp(options.command[1], "b") == 0);
  CHECK(!parses("--offer --nonce x") && !parses("--offer a") && !parses("--offer --nonce x --ports 9-7 a"));
  CHECK(parses("-V") && options.mode == RD_OPTIONS_VERSION);
  CHECK(parses("--help") && options.mode == RD_OPTIONS_HELP);
  return test_end("rdstage agent_options");
}
