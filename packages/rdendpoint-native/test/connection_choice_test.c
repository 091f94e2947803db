// SPDX-License-Identifier: Apache-2.0
// Several connections that authenticate at once: one survives, the same one at both ends, and the others are not
// reported.
#include "conn/establisher.h"
#include "scripted_peer.h"
#include "transport/tcp/connector.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES (64u << 10)

struct side {
  enum rd_role role;
  struct rd_establisher *connect;
  struct rd_address address; // where its listener is
  struct rd_connection *connection;
  int failures; // attempts reported as failed
  int rejected; // peers reported as rejected
  struct rd_error failure;
};

static struct rd_error error;

static void count_rejected(void *context, const char *peer, const struct rd_error *why) {
  (void)peer;
  (void)why;
  ((struct side *)context)->rejected++;
}

static void open_side(struct side *side, enum rd_role role, int64_t connect_timeout_ms) {
  *side = (struct side){.role = role, .address = {.host = "127.0.0.1"}};
  struct rd_establisher_config config = {
      .identity = scripted_peer_identity(),
      .role = role,
      .encrypt = RD_ENCRYPT_NEVER,
      .buffer_bytes = BUFFER_BYTES,
      .stall_timeout_ms = WAIT_MS,
      .handshake_ms = WAIT_MS,
      .dialer = {.timeout_ms = connect_timeout_ms},
      .rejected = count_rejected,
      .context = side,
  };
  side->connect = rd_establisher_create(&config);
}

static void close_side(struct side *side) {
  rd_establisher_destroy(side->connect);
  rd_connection_destroy(side->connection);
}

static void listen_at(struct side *side) {
  const struct rd_listen_config here = {.bind_host = "127.0.0.1"};
  REQUIRE(rd_establisher_listen(side->connect, &here, &side->address.port, &error));
}

static void dial(struct side *side, const struct side *other, size_t times) {
  struct rd_address addresses[RD_DIALER_MAX];
  for (size_t i = 0; i < times; i++) addresses[i] = other->address;
  REQUIRE(rd_establisher_dial(side->connect, addresses, times, &error));
}

static void service(struct side *side) {
  if (side->connect == NULL) return;
  int serviced = rd_establisher_service(side->connect, &side->failure);
  if (serviced < 0) side->failures++;
  if (serviced > 0) (void)rd_establisher_take(side->connect, &side->connection, &side->failure);
  if (side->connection == NULL) return;
  rd_establisher_destroy(side->connect);
  side->connect = NULL;
}

static void wait_for(struct side *side) {
  struct pollfd polls[RD_ESTABLISHER_POLLS_MAX];
  if (side->connect != NULL) poll(polls, rd_establisher_polls(side->connect, polls), 100);
}

// Services the two ends in turn: each sees at once what the other sent.
static void in_turn(struct side *first, struct side *second) {
  int64_t until_ms = rd_now_ms() + WAIT_MS;
  while ((first->connect != NULL || second->connect != NULL) && rd_now_ms() < until_ms) {
    service(first);
    service(second);
  }
}

static void *run_side(void *context) {
  struct side *side = context;
  int64_t until_ms = rd_now_ms() + WAIT_MS;
  while (side->connect != NULL && rd_now_ms() < until_ms) {
    service(side);
    wait_for(side);
  }
  return NULL;
}

static void at_once(struct side *first, struct side *second) {
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, run_side, second) == 0);
  run_side(first);
  REQUIRE(pthread_join(thread, NULL) == 0);
}

static unsigned open_descriptors(void) {
  unsigned count = 0;
  DIR *directory = opendir("/proc/self/fd");
  REQUIRE(directory != NULL);
  while (readdir(directory) != NULL) count++;
  closedir(directory);
  return count;
}

// Checks that the two connections are the two ends of one: the receiver gets a frame that the sender sent.
static void check_joined(struct side *sender, struct side *receiver) {
  struct rd_rx_frame rx_frame;
  int received = 0;
  REQUIRE(sender->connection != NULL && receiver->connection != NULL);
  CHECK(strcmp(rd_connection_local(sender->connection), rd_connection_peer(receiver->connection)) == 0);
  CHECK(strcmp(rd_connection_peer(sender->connection), rd_connection_local(receiver->connection)) == 0);
  say(sender->connection, RD_FRAME_DATA, 0, "hello", 5);
  while ((received = rd_connection_receive(receiver->connection, &rx_frame, &error)) == 0)
    rd_wait_fd(rd_connection_poll_fd(receiver->connection), POLLIN, WAIT_MS);
  CHECK(received == 1 && rx_frame.bytes == 5 && memcmp(rx_frame.payload, "hello", 5) == 0);
  CHECK(sender->failures == 0 && receiver->failures == 0);
  CHECK(sender->rejected == 0 && receiver->rejected == 0);
}

typedef void in_some_order(struct side *first, struct side *second);

// `sends` and `receives`: how many times the sender and the receiver dial the other's listener.
static void connect_once(in_some_order *run, bool sender_first, size_t sends, size_t receives) {
  struct side sender, receiver;
  unsigned before = open_descriptors();
  open_side(&sender, RD_ROLE_SENDER, WAIT_MS);
  open_side(&receiver, RD_ROLE_RECEIVER, WAIT_MS);
  if (receives > 0) listen_at(&sender);
  if (sends > 0) listen_at(&receiver);
  if (sends > 0) dial(&sender, &receiver, sends);
  if (receives > 0) dial(&receiver, &sender, receives);
  run(sender_first ? &sender : &receiver, sender_first ? &receiver : &sender);
  check_joined(&sender, &receiver);
  CHECK(open_descriptors() == before + 2);
  close_side(&sender);
  close_side(&receiver);
}

static void connect_in_all_ways(void) {
  for (int round = 0; round < 100; round++) connect_once(at_once, round & 1, 1, 1);
  for (int round = 0; round < 10; round++) connect_once(at_once, round & 1, 3, 3);
  for (int first = 0; first < 2; first++) {
    connect_once(in_turn, first, 1, 1);
    connect_once(in_turn, first, 3, 2);
    connect_once(in_turn, first, 1, 0); // an end that only listens does not have to dial
    connect_once(in_turn, first, 0, 1);
    connect_once(in_turn, first, 4, 0);
    connect_once(in_turn, first, 0, 4);
  }
}

// Opens a receiver that has adopted one end of a socket pair; returns the other end.
static struct rd_transport *adopt_one(struct side *receiver, int64_t connect_timeout_ms) {
  int fds[2];
  open_side(receiver, RD_ROLE_RECEIVER, connect_timeout_ms);
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
  REQUIRE(rd_establisher_adopt(receiver->connect, rd_tcp_adopt(fds[0], &error), false, &error));
  return rd_tcp_adopt(fds[1], &error);
}

static void *run_until_told(void *context) {
  struct side *side = context;
  while (side->connect != NULL && side->failures == 0 && side->rejected == 0) {
    service(side);
    wait_for(side);
  }
  return NULL;
}

static void say_nothing(struct rd_connection *connection) {
  struct rd_rx_frame rx_frame;
  struct rd_error ignored;
  while (rd_connection_receive(connection, &rx_frame, &ignored) == 0)
    rd_wait_fd(rd_connection_poll_fd(connection), POLLIN, WAIT_MS);
}

static void close_at_once(struct rd_connection *connection) {
  (void)connection;
}

static void begin_with_data(struct rd_connection *connection) {
  say(connection, RD_FRAME_DATA, 0, "x", 1);
}

static void begin_with_bye(struct rd_connection *connection) {
  say(connection, RD_FRAME_BYE, 0, NULL, 0);
}

// A sender that holds the key and does not choose: this is a failure if there is no other peer.
static void not_chosen(void (*instead)(struct rd_connection *), int64_t connect_timeout_ms, const char *words) {
  struct side receiver;
  pthread_t thread;
  struct rd_transport *transport = adopt_one(&receiver, connect_timeout_ms);
  REQUIRE(pthread_create(&thread, NULL, run_until_told, &receiver) == 0);
  struct rd_connection *connection = shake_hands(transport, RD_ROLE_SENDER, (struct rd_hello){0});
  instead(connection);
  rd_connection_destroy(connection);
  REQUIRE(pthread_join(thread, NULL) == 0);
  CHECK(receiver.failures == 1 && receiver.connection == NULL);
  CHECK(receiver.failure.code == RD_CODE_CANNOT_CONNECT && strstr(receiver.failure.message, words) != NULL);
  close_side(&receiver);
}

static struct rd_transport *connect_to(const struct side *side) {
  struct rd_transport *transport = NULL;
  struct rd_connector *connector = rd_tcp_dial(&side->address, &error);
  REQUIRE(connector != NULL);
  while (connector->ops->accept(connector, &transport, &error) == 0) continue;
  REQUIRE(transport != NULL);
  rd_connector_destroy(connector);
  return transport;
}

// Peers that connect and send nothing do not evict one that holds the key.
static void amid_others(void) {
  struct side receiver;
  struct rd_transport *others[2 * RD_PENDING_MAX];
  size_t count = sizeof others / sizeof others[0];
  open_side(&receiver, RD_ROLE_RECEIVER, WAIT_MS);
  listen_at(&receiver);
  struct rd_pending *pending = begin_to_shake(connect_to(&receiver), RD_ROLE_SENDER, (struct rd_hello){0});
  while (rd_pending_service(pending, &error) == 0) service(&receiver);
  struct rd_connection *connection = take_connection(pending);
  for (size_t i = 0; i < count; i++) {
    others[i] = connect_to(&receiver);
    service(&receiver);
  }
  say(connection, RD_FRAME_PING, 0, NULL, 0);
  for (int64_t until_ms = rd_now_ms() + WAIT_MS; receiver.connect != NULL && rd_now_ms() < until_ms;)
    service(&receiver);
  CHECK(receiver.connection != NULL && receiver.rejected == 0);
  for (size_t i = 0; i < count; i++) rd_transport_destroy(others[i]);
  rd_connection_destroy(connection);
  close_side(&receiver);
}

// A listener without descriptors pauses; once there are some again it accepts the peers that are still waiting.
static void out_of_descriptors(void) {
  struct side receiver;
  struct rlimit limit, none;
  struct pollfd polls[RD_ESTABLISHER_POLLS_MAX];
  open_side(&receiver, RD_ROLE_RECEIVER, WAIT_MS);
  listen_at(&receiver);
  struct rd_pending *pending = begin_to_shake(connect_to(&receiver), RD_ROLE_SENDER, (struct rd_hello){0});
  int next_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  REQUIRE(next_fd >= 0 && close(next_fd) == 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0);
  none = (struct rlimit){.rlim_cur = (rlim_t)next_fd, .rlim_max = limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  service(&receiver);
  CHECK(receiver.failures == 0 && rd_establisher_polls(receiver.connect, polls) == 0);
  int rest_ms = rd_establisher_timeout_ms(receiver.connect);
  CHECK(rest_ms > 0 && rest_ms <= 1000);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  poll(NULL, 0, rest_ms);
  while (rd_pending_service(pending, &error) == 0) service(&receiver);
  CHECK(rd_pending_authenticated(pending));
  rd_pending_destroy(pending);
  close_side(&receiver);
}

int main(void) {
  connect_in_all_ways();
  not_chosen(close_at_once, WAIT_MS, "closed the connection");
  not_chosen(begin_with_data, WAIT_MS, "a frame other than the PING that selects this connection");
  not_chosen(begin_with_bye, WAIT_MS, "a frame other than the PING that selects this connection");
  not_chosen(say_nothing, 3000, "did not use its connection in time");
  amid_others();
  out_of_descriptors();
  return test_end("connection_choice");
}
