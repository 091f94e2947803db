// SPDX-License-Identifier: Apache-2.0
// rdhop: rdsend, rdrecv, rdforward, rdgather and the front of rdssh in one executable.
#include "forward/forward.h"
#include "gather/gather.h"
#include "rdrecv.h"
#include "rdsend.h"
#include "serve/options.h"
#include "serve/rdserve.h"
#include "ssh/front.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

struct program {
  const char *name;
  int (*main)(int argc, char **argv);
};

static const struct program *find_program(const char *word);
static int receive(int argc, char **argv);

static const struct program programs[] = {{"rdsend", rd_send_main},
                                          {"rdrecv", receive},
                                          {RD_FORWARD_NAME, rd_forward_main},
                                          {RD_GATHER_NAME, rd_gather_main},
                                          {RD_SSH_NAME, rd_ssh_main}};

// By the name of the program, else by its first word, which is then taken for the name: packages that cannot hold links
// have the program once.
int main(int argc, char **argv) {
  for (int shift = 0; shift < 2 && shift < argc; shift++) {
    const struct program *program = find_program(argv[shift]);
    if (program == NULL) continue;
    prctl(PR_SET_NAME, program->name); // ps shows it
    return program->main(argc - shift, argv + shift);
  }
  // A host to which the program was copied is asked whether it runs there.
  if (argc == 2 && strcmp(argv[1], "--version") == 0) return puts("rdhop " RD_VERSION) < 0 || fflush(stdout) != 0;
  fputs("Usage: rdhop rdsend|rdrecv|rdforward ... (see man rdsend, man rdrecv)\n", stderr);
  return 2;
}

// NULL: none.
static const struct program *find_program(const char *word) {
  const char *slash = strrchr(word, '/');
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
    if (strcmp(slash != NULL ? slash + 1 : word, programs[i].name) == 0) return &programs[i];
  return NULL;
}

static int receive(int argc, char **argv) {
  return rd_serve_is_asked_for(argc, argv) ? rd_serve_main(argc, argv) : rd_recv_main(argc, argv);
}
