// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include "base/cleanup.h"
#include "recv_loop.h"
#include "send_loop.h"
#include "transport/tcp/connector.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ACTS_MAX 200u
#define MEET_MS 3000
#define LOOK_MS 5 // interval of checks whether the loop still runs
#define RESUME_MS 5000

// How a connection breaks, and how the next one is made.
enum breach {
  BREACH_RESET = 1,     // without an orderly end
  BREACH_ANY_EPOCH = 2, // the epoch may be equal to or lower than earlier ones
  BREACH_RAW = 4,       // the first frames are left to the input
  BREACH_BESIDE = 8,    // the old connection stays open until the new one exists
};

static void remove_directory(void);
static int listen_for_loop(char path[static sizeof(struct sockaddr_un)]);
static void break_connection(struct session *session, struct fuzz_input *input);
static int meet(const struct session *session);
static int accept_loop(const struct session *session);
static int connect_to_loop(const struct script *script);
static bool join(struct session *session);
static void greet(struct phony_peer *peer);

static char directory[64];

const char *session_directory(void) {
  if (directory[0] != '\0') return directory;
  const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf(directory, sizeof directory, "%s/rd-fuzz-XXXXXX", memory);
  FUZZ_REQUIRE(mkdtemp(directory) != NULL);
  atexit(remove_directory);
  signal(SIGPIPE, SIG_IGN);
  return directory;
}

static void remove_directory(void) {
  DIR *listing = opendir(directory);
  if (listing == NULL) return;
  for (const struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    if (entry->d_name[0] != '.') unlink(path);
  }
  closedir(listing);
  rmdir(directory);
}

void session_begin(struct session *session, enum rd_role role, enum rd_encrypt encrypt, enum session_way way) {
  struct rd_error error;
  int ends[2] = {-1, -1};
  session->way = way;
  session->listen_fd = -1;
  script_init(&session->script, role == RD_ROLE_SENDER ? rd_send_loop : rd_recv_loop);
  phony_peer_init(&session->peer, role == RD_ROLE_SENDER ? RD_ROLE_RECEIVER : RD_ROLE_SENDER);
  script_add(&session->script, RD_COMMAND_OPEN)->settings = script_settings(encrypt, SESSION_BUFFER_BYTES);
  struct rd_command *command = script_add(&session->script, way == SESSION_DIALS     ? RD_COMMAND_DIAL
                                                            : way == SESSION_LISTENS ? RD_COMMAND_LISTEN
                                                                                     : RD_COMMAND_ADOPT);
  if (way == SESSION_DIALS) {
    command->address_count = 1;
    session->listen_fd = listen_for_loop(command->addresses[0].host);
  } else if (way == SESSION_LISTENS) {
    command->listen = (struct rd_listen_command){.has_bind = true, .bind_host = "127.0.0.1"};
  } else {
    FUZZ_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    command->is_dialer = way == SESSION_ADOPTS_CLIENT;
    command->transport = rd_tcp_adopt(ends[0], &error);
    FUZZ_REQUIRE(command->transport != NULL);
    phony_peer_meet(&session->peer, ends[1]);
  }
}

static int listen_for_loop(char path[static sizeof(struct sockaddr_un)]) {
  struct sockaddr_un local = {.sun_family = AF_UNIX};
  snprintf(local.sun_path, sizeof local.sun_path, "%s/socket", session_directory());
  snprintf(path, sizeof local, "%s", local.sun_path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  FUZZ_REQUIRE(fd >= 0 && bind(fd, (const struct sockaddr *)&local, sizeof local) == 0 && listen(fd, 8) == 0);
  return fd;
}

bool session_join(struct session *session) {
  if (session->peer.fd < 0) phony_peer_meet(&session->peer, meet(session));
  return join(session);
}

void session_act(struct session *session, struct fuzz_input *input) {
  struct phony_peer *peer = &session->peer;
  for (unsigned acts = 0; acts < ACTS_MAX && input->left > 0; acts++) {
    uint8_t op = fuzz_u8(input);
    if (op >= 0xf0)
      break_connection(session, input);
    else
      phony_peer_act(peer, op, input);
    if (!peer->joined || peer->mute || peer->deaf) return;
  }
}

static void break_connection(struct session *session, struct fuzz_input *input) {
  struct phony_peer *peer = &session->peer;
  const struct linger at_once = {.l_onoff = 1};
  unsigned breach = fuzz_u8(input);
  bool adopted = session->way == SESSION_ADOPTS_SERVER || session->way == SESSION_ADOPTS_CLIENT;
  if (breach & BREACH_RESET) (void)setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  session->hello.epoch = breach & BREACH_ANY_EPOCH ? fuzz_u32(input) : peer->agreement.mine.epoch + 1;
  // A loop that dials does so only when the old connection is gone.
  bool beside = breach & BREACH_BESIDE && session->way == SESSION_LISTENS;
  RD_AUTO_CLOSE int old_fd = -1;
  if (beside) old_fd = fcntl(peer->fd, F_DUPFD_CLOEXEC, 3);
  phony_peer_meet(peer, -1);
  if (adopted || (session->way == SESSION_DIALS && (peer->misbehaved || peer->heard_abort))) return;
  phony_peer_meet(peer, meet(session));
  if (join(session) && !(breach & BREACH_RAW)) greet(peer);
}

// Returns a connected socket, or -1 if the loop has ended.
static int meet(const struct session *session) {
  return session->way == SESSION_DIALS ? accept_loop(session) : connect_to_loop(&session->script);
}

static int accept_loop(const struct session *session) {
  int64_t until_ms = rd_now_ms() + MEET_MS;
  while (!session->script.finished && rd_now_ms() < until_ms)
    if (rd_wait_fd(session->listen_fd, POLLIN, LOOK_MS) > 0)
      return accept4(session->listen_fd, NULL, NULL, SOCK_CLOEXEC);
  return -1;
}

static int connect_to_loop(const struct script *script) {
  struct sockaddr_in there = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  int64_t until_ms = rd_now_ms() + MEET_MS;
  while (script->port == 0) FUZZ_REQUIRE(rd_now_ms() < until_ms && sched_yield() == 0);
  there.sin_port = htons((uint16_t)script->port);
  RD_AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  FUZZ_REQUIRE(fd >= 0);
  return connect(fd, (const struct sockaddr *)&there, sizeof there) == 0 ? rd_take_fd(&fd) : -1;
}

static bool join(struct session *session) {
  bool dialer = session->way == SESSION_ADOPTS_SERVER || session->way == SESSION_LISTENS;
  return session->peer.fd >= 0 && phony_peer_join(&session->peer, dialer, &session->hello);
}

// Sends the first frames of an honest peer.
static void greet(struct phony_peer *peer) {
  if (peer->role == RD_ROLE_RECEIVER)
    phony_peer_say(peer, RD_FRAME_RESUME, 0);
  else
    phony_peer_say(peer, RD_FRAME_PING, 0);
  if (peer->role == RD_ROLE_SENDER) (void)phony_peer_hear(peer, RD_FRAME_RESUME, RESUME_MS);
}

// Ends the loop: a dialing loop finds no listener, and a listening one gets an ABORT.
void session_end(struct session *session) {
  struct script *script = &session->script;
  if (session->way == SESSION_DIALS) unlink(((const struct rd_command *)&script->commands[1])->addresses[0].host);
  rd_cleanup_fd(&session->listen_fd);
  phony_peer_leave(&session->peer);
  if (session->way == SESSION_LISTENS) {
    script->aborts = true;
    FUZZ_REQUIRE(eventfd_write(script->wake_fd, 1) == 0);
  }
  script_join(script);
}

void session_clear(struct session *session) {
  phony_peer_clear(&session->peer);
}
