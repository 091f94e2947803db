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

// Selects the program by the name of the executable, otherwise by the first word, which then becomes the name: packages
// that cannot contain links have the executable only once.
int main(int argc, char **argv) {
  for (int shift = 0; shift < 2 && shift < argc; shift++) {
    const struct program *program = find_program(argv[shift]);
    if (program == NULL) continue;
    prctl(PR_SET_NAME, program->name); // for ps
    return program->main(argc - shift, argv + shift);
  }
  // rdpipe runs this on a host to check that a copied program can run there.
  if (argc == 2 && strcmp(argv[1], "--version") == 0) return puts("rdhop " RD_VERSION) < 0 || fflush(stdout) != 0;
  fputs("Usage: rdhop rdsend|rdrecv|rdforward ... (see man rdsend, man rdrecv)\n", stderr);
  return 2;
}

// Returns NULL if there is no such program.
static const struct program *find_program(const char *word) {
  const char *slash = strrchr(word, '/');
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
    if (strcmp(slash != NULL ? slash + 1 : word, programs[i].name) == 0) return &programs[i];
  return NULL;
}

static int receive(int argc, char **argv) {
  return rd_serve_is_asked_for(argc, argv) ? rd_serve_main(argc, argv) : rd_recv_main(argc, argv);
}
