// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACTS_MOST 200u

static void remove_folder(void);

static char folder[64];

const char *session_folder(void) {
  if (folder[0] != '\0') return folder;
  const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf(folder, sizeof folder, "%s/rd-fuzz-XXXXXX", memory);
  FUZZ_REQUIRE(mkdtemp(folder) != NULL);
  atexit(remove_folder);
  signal(SIGPIPE, SIG_IGN);
  return folder;
}

void session_begin(struct script *script, struct phony_peer *peer, enum rd_role role, enum rd_encrypt encrypt,
                   bool loop_dials) {
  struct rd_error error;
  int ends[2];
  FUZZ_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  script_add(script, RD_ORDER_OPEN)->settings = script_settings(encrypt, SESSION_BUFFER_BYTES);
  struct rd_order *adopt = script_add(script, RD_ORDER_ADOPT);
  adopt->transport = rd_tcp_adopt(ends[0], &error);
  adopt->dialler = loop_dials;
  FUZZ_REQUIRE(adopt->transport != NULL);
  phony_peer_init(peer, ends[1], role == RD_ROLE_SENDER ? RD_ROLE_RECEIVER : RD_ROLE_SENDER);
}

void session_act(struct phony_peer *peer, struct fuzz_input *input) {
  for (unsigned acts = 0; acts < ACTS_MOST && input->left > 0 && !peer->mute && !peer->deaf; acts++)
    phony_peer_act(peer, input);
}

static void remove_folder(void) {
  DIR *listing = opendir(folder);
  if (listing == NULL) return;
  for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (entry->d_name[0] != '.') unlink(path);
  }
  closedir(listing);
  rmdir(folder);
}
