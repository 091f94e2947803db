// SPDX-License-Identifier: Apache-2.0
#include "loop_harness.h"

#include "base/protocol_version.h"
#include "conn/establisher.h"
#include "transport/tcp/connector.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define TURNS_MAX 5000u
#define WIND_UP_TURNS 200u

// How a connection breaks, and how the next one is made. Bits.
enum breach {
  BREACH_FINAL = 1,   // there is no next connection
  BREACH_RAW = 2,     // the input decides about the first frames
  BREACH_BESIDE = 4,  // the old connection stays until the new one exists
  BREACH_LATE = 8,    // time passes in between
  BREACH_REFUSED = 16 // a dial is refused first
};

struct rd_establisher {
  struct rd_establisher_config config;
};

static bool turn(void *context);
static void act(struct loop_harness *end);
static void break_connection(struct loop_harness *end);
static void meet(struct loop_harness *end);
static void agree(const struct loop_harness *end, bool of_peer, struct rd_agreement *agreement);
static struct rd_seal *make_seal(const struct loop_harness *end, enum rd_role sealer);
static short ready(void *context, const struct pollfd *polled);

static struct loop_harness *the_end;
static int arrived_fd = -1; // a connection for rd_establisher_take() to return
static bool is_refused;

void loop_harness_init(struct loop_harness *end, enum rd_code (*loop)(struct rd_control *), enum rd_role role) {
  script_init(&end->script, loop);
  phony_peer_init(&end->peer, role == RD_ROLE_SENDER ? RD_ROLE_RECEIVER : RD_ROLE_SENDER);
  struct rd_settings settings = script_settings(RD_ENCRYPT_NEVER, HARNESS_BUFFER_BYTES);
  settings.jobs = 1;
  script_add(&end->script, RD_COMMAND_OPEN)->settings = settings;
  script_add(&end->script, end->adopts ? RD_COMMAND_ADOPT : RD_COMMAND_DIAL);
  end->hello.epoch = 1;
  end->turns_left = WIND_UP_TURNS;
}

void loop_harness_run(struct loop_harness *end) {
  const struct fake_world world = {.turn = turn, .ready = ready, .context = end, .turns_most = TURNS_MAX};
  the_end = end;
  is_refused = false;
  fake_clock_start(&world);
  meet(end);
  end->script.code = end->script.loop(&end->script.control);
  fake_clock_stop();
  FUZZ_REQUIRE(end->script.finished);
}

void loop_harness_clear(struct loop_harness *end) {
  if (arrived_fd >= 0) close(arrived_fd);
  arrived_fd = -1;
  phony_peer_clear(&end->peer);
  close(end->script.wake_fd);
  free(end->script.commands);
}

enum rd_protection loop_harness_protection(uint8_t how) {
  if (how & 1) return RD_PROTECTION_SEAL;
  return how & 2 ? RD_PROTECTION_MAC : RD_PROTECTION_NONE;
}

struct rd_command *loop_harness_command(struct loop_harness *end, enum rd_command_type type) {
  if (end->script.command_count == SCRIPT_ORDERS_MAX) return NULL;
  FUZZ_REQUIRE(eventfd_write(end->script.wake_fd, 1) == 0);
  return script_add(&end->script, type);
}

bool loop_harness_is_slow(void) {
  return the_end->is_slow;
}

// When the input is used up, the target ends the stream properly; after that no new connection comes.
static bool turn(void *context) {
  struct loop_harness *end = context;
  struct phony_peer *peer = &end->peer;
  eventfd_t told;
  (void)eventfd_read(end->script.wake_fd, &told);
  if (end->stalled > 0) end->stalled--;
  if (peer->joined) (void)phony_peer_hear(peer, 0, 0);
  bool acts = end->input.left > 0 && end->acts++ < HARNESS_ACTS_MAX && peer->joined && !peer->mute && !peer->deaf;
  if (acts) {
    act(end);
    return true;
  }
  end->stalled = 0;
  end->is_slow = false;
  if (end->turns_left > 0 && end->turns_left-- > 1 && end->wind_up(end)) return true;
  end->turns_left = 0;
  phony_peer_meet(peer, -1);
  return false;
}

static void act(struct loop_harness *end) {
  uint8_t op = fuzz_u8(&end->input);
  if (op >= 0xf0)
    break_connection(end);
  else if (op == 0xef)
    fake_clock_pass(fuzz_u16(&end->input));
  else if (op == 0xee)
    end->stalled = fuzz_u8(&end->input);
  else if (op == 0xed)
    end->is_slow = fuzz_u8(&end->input) & 1;
  else if (op >= 0xe0)
    end->act(end, op);
  else
    phony_peer_act(&end->peer, op, &end->input);
}

static void break_connection(struct loop_harness *end) {
  struct phony_peer *peer = &end->peer;
  unsigned breach = fuzz_u8(&end->input);
  int old_fd = breach & BREACH_BESIDE ? fcntl(peer->fd, F_DUPFD_CLOEXEC, 3) : -1;
  phony_peer_meet(peer, -1);
  if (breach & BREACH_REFUSED) is_refused = true;
  if (breach & BREACH_LATE) fake_clock_pass(fuzz_u16(&end->input));
  if (!(breach & BREACH_FINAL) && !end->adopts) {
    end->hello.epoch += 1u + fuzz_u8(&end->input) % 4;
    meet(end);
    if (!(breach & BREACH_RAW))
      phony_peer_say(peer, peer->role == RD_ROLE_RECEIVER ? RD_FRAME_RESUME : RD_FRAME_PING, 0);
  }
  if (old_fd >= 0) close(old_fd);
}

// Connects as if both ends had just proved the key.
static void meet(struct loop_harness *end) {
  struct phony_peer *peer = &end->peer;
  int ends[2];
  FUZZ_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  if (arrived_fd >= 0) close(arrived_fd);
  arrived_fd = ends[0];
  phony_peer_meet(peer, ends[1]);
  agree(end, true, &peer->agreement);
  peer->joined = true;
  peer->protection = end->protection;
  peer->resume_owed = end->hello.epoch > 1;
}

static void agree(const struct loop_harness *end, bool of_peer, struct rd_agreement *agreement) {
  enum rd_role peers = end->peer.role, ours = peers == RD_ROLE_SENDER ? RD_ROLE_RECEIVER : RD_ROLE_SENDER;
  struct rd_hello own = {.version = RD_PROTOCOL_VERSION, .epoch = end->hello.epoch};
  if (ours == RD_ROLE_RECEIVER) {
    own.slots = end->slots;
    own.slot_bytes = end->slot_bytes;
    own.small_slots = end->small_slots;
    own.features = RD_FEATURE_ZSTD;
  }
  *agreement = (struct rd_agreement){.protection = end->protection,
                                     .compresses = end->compresses,
                                     .cipher_name = "none at all",
                                     .lanes = 1,
                                     .mine = of_peer ? end->hello : own,
                                     .peer = of_peer ? own : end->hello,
                                     .outgoing = make_seal(end, of_peer ? peers : ours),
                                     .incoming = make_seal(end, of_peer ? ours : peers)};
}

static struct rd_seal *make_seal(const struct loop_harness *end, enum rd_role sealer) {
  unsigned char key_and_iv[RD_SEAL_KEY_BYTES + RD_SEAL_IV_BYTES];
  struct rd_error error;
  memset(key_and_iv, (int)sealer + (int)end->hello.epoch * 2, sizeof key_and_iv);
  struct rd_seal *seal = rd_seal_create(end->chacha, key_and_iv, end->frames_a_key, &error);
  FUZZ_REQUIRE(seal != NULL);
  return seal;
}

static short ready(void *context, const struct pollfd *polled) {
  const struct loop_harness *end = context;
  return polled->fd == FAKE_WORK_FD ? POLLIN : end->ready(end, polled);
}

// The wire accepts a complete message or nothing.
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  if (the_end != NULL && the_end->stalled > 0) {
    errno = EAGAIN;
    return -1;
  }
  return syscall(SYS_sendmsg, fd, message, flags);
}

// Replaces establisher.c: every connection is already authenticated.
struct rd_establisher *rd_establisher_create(const struct rd_establisher_config *config) {
  struct rd_establisher *establisher = malloc(sizeof *establisher);
  FUZZ_REQUIRE(establisher != NULL);
  establisher->config = *config;
  return establisher;
}

void rd_establisher_destroy(struct rd_establisher *establisher) {
  free(establisher);
}

bool rd_establisher_listen(struct rd_establisher *establisher, const struct rd_listen_config *listen, uint16_t *port,
                           struct rd_error *error) {
  (void)establisher, (void)listen, (void)error;
  *port = 1;
  return true;
}

void rd_establisher_use_rails(struct rd_establisher *establisher, const struct rd_address *addresses, size_t count) {
  (void)establisher, (void)addresses, (void)count;
}

bool rd_establisher_dial(struct rd_establisher *establisher, const struct rd_address *addresses, size_t count,
                         struct rd_error *error) {
  (void)establisher, (void)addresses, (void)count, (void)error;
  return true;
}

bool rd_establisher_adopt(struct rd_establisher *establisher, struct rd_transport *transport, bool is_dialer,
                          struct rd_error *error) {
  (void)establisher, (void)transport, (void)is_dialer, (void)error;
  return true;
}

enum rd_outcome rd_establisher_service(struct rd_establisher *establisher, struct rd_error *error) {
  (void)establisher;
  if (arrived_fd >= 0) return RD_OUTCOME_DONE;
  if (!is_refused) return RD_OUTCOME_AGAIN;
  is_refused = false;
  rd_error_set(error, RD_CODE_CANNOT_CONNECT, "no peer listens");
  return RD_OUTCOME_FAILED;
}

enum rd_outcome rd_establisher_take(struct rd_establisher *establisher, struct rd_connection **connection,
                                    struct rd_error *error) {
  const struct rd_establisher_config *config = &establisher->config;
  const struct rd_connection_settings settings = {
      .stall_timeout_ms = config->stall_timeout_ms, .compress_level = config->compress_level, .jobs = config->jobs};
  struct rd_agreement agreement;
  struct rd_transport *transport = rd_tcp_adopt(arrived_fd, error);
  FUZZ_REQUIRE(transport != NULL);
  arrived_fd = -1;
  agree(the_end, false, &agreement);
  *connection = rd_connection_create(transport, &agreement, &settings, error);
  FUZZ_REQUIRE(*connection != NULL);
  struct rd_error ignored;
  if (config->role == RD_ROLE_SENDER)
    rd_connection_choose(*connection);
  else
    (void)rd_connection_send(*connection, RD_FRAME_PONG, 0, NULL, 0, &ignored);
  return RD_OUTCOME_DONE;
}

bool rd_establisher_reconnect(struct rd_establisher *establisher) {
  (void)establisher;
  return !the_end->adopts;
}

void rd_establisher_cancel(struct rd_establisher *establisher) {
  (void)establisher;
}

void rd_establisher_dial_lanes(struct rd_establisher *establisher, unsigned lanes) {
  (void)establisher, (void)lanes;
}

size_t rd_establisher_polls(const struct rd_establisher *establisher, struct pollfd *polls) {
  (void)establisher, (void)polls;
  return 0;
}

int rd_establisher_timeout_ms(const struct rd_establisher *establisher) {
  (void)establisher;
  return arrived_fd >= 0 || is_refused ? 0 : -1;
}
