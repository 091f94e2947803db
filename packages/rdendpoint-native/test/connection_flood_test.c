// SPDX-License-Identifier: Apache-2.0
// A flood of unauthenticated connections at a listener: how many it holds, which it drops, and that its peer gets
// through. With an address of this machine as argument, also over RDMA: `connection_flood_test 10.0.0.1`.
#include "conn/establisher.h"
#include "scripted_peer.h"
#include "transport/tcp/connector.h"
#include "transport/verbs/connector.h"

#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_BYTES (64u << 10)
#define HELD_MS 5000 // docs/protocol/wire.md, section 1.2
#define SILENT_PEERS_MAX (2u * RD_PENDING_MAX)

static struct rd_error error;

// A receiver that listens, or dials.
struct end {
  struct rd_establisher *connect;
  struct rd_connection *connection;
  struct rd_address address;
  int failures, rejected;
};

static void count_rejected(void *context, const char *peer, const struct rd_error *why) {
  (void)peer;
  (void)why;
  ((struct end *)context)->rejected++;
}

static void open_end(struct end *end, const char *host, bool rdma, int64_t handshake_ms) {
  *end = (struct end){.address.rdma = rdma};
  snprintf(end->address.host, sizeof end->address.host, "%s", host);
  struct rd_establisher_config config = {
      .identity = scripted_peer_identity(),
      .role = RD_ROLE_RECEIVER,
      .encrypt = RD_ENCRYPT_NEVER,
      .buffer_bytes = BUFFER_BYTES,
      .stall_timeout_ms = WAIT_MS,
      .handshake_ms = handshake_ms,
      .dialer = {.timeout_ms = WAIT_MS},
      .rejected = count_rejected,
      .context = end,
  };
  end->connect = rd_establisher_create(&config);
}

static void listen_at(struct end *end) {
  struct rd_listen_config here = {.rdma = end->address.rdma};
  snprintf(here.bind_host, sizeof here.bind_host, "%s", end->address.host);
  REQUIRE(rd_establisher_listen(end->connect, &here, &end->address.port, &error));
}

static void close_end(struct end *end) {
  rd_establisher_destroy(end->connect);
  rd_connection_destroy(end->connection);
}

static void service(struct end *end) {
  int serviced = rd_establisher_service(end->connect, &error);
  if (serviced < 0) end->failures++;
  if (serviced > 0 && end->connection == NULL) CHECK(rd_establisher_take(end->connect, &end->connection, &error) == 1);
}

// Returns the number of descriptors that it polls besides the listener itself.
static size_t held(const struct end *end) {
  struct pollfd polls[RD_ESTABLISHER_POLLS_MAX];
  return rd_establisher_polls(end->connect, polls) - 1;
}

// Unauthenticated peers ---------------------------------------------------------------------------------------------

struct silent_peer {
  struct rd_connector *connector; // until it is connected
  struct rd_transport *transport;
};

static void silent_peer_connect(struct silent_peer *silent_peer, const struct end *end) {
  const struct rd_address *address = &end->address;
  *silent_peer = (struct silent_peer){.connector = address->rdma ? rd_verbs_dial(address, false, &error)
                                                                 : rd_tcp_dial(address, &error)};
  REQUIRE(silent_peer->connector != NULL);
}

static void silent_peer_leave(struct silent_peer *silent_peer) {
  rd_transport_destroy(silent_peer->transport);
  rd_connector_destroy(silent_peer->connector);
}

// Waits until all of them are accepted, or evicted again.
static void silent_peers_connected(struct silent_peer *silent_peers, size_t count, struct end *end) {
  size_t in = 0;
  for (int64_t until_ms = rd_now_ms() + WAIT_MS; in < count && rd_now_ms() < until_ms;) {
    in = 0;
    service(end);
    for (size_t i = 0; i < count; i++) {
      struct silent_peer *silent_peer = &silent_peers[i];
      if (silent_peer->transport == NULL)
        CHECK(silent_peer->connector->ops->accept(silent_peer->connector, &silent_peer->transport, &error) >= 0);
      in += silent_peer->transport != NULL;
    }
  }
  CHECK(in == count);
}

static struct rd_transport *connect_to(struct end *end) {
  struct silent_peer peer;
  silent_peer_connect(&peer, end);
  silent_peers_connected(&peer, 1, end);
  rd_connector_destroy(peer.connector);
  return peer.transport;
}

// Completes the sender's handshake, and chooses the connection.
static void get_through(struct rd_pending *pending, struct end *end) {
  int serviced = 0;
  struct rd_error why;
  for (int64_t until_ms = rd_now_ms() + WAIT_MS; serviced == 0 && rd_now_ms() < until_ms;) {
    service(end);
    serviced = rd_pending_service(pending, &why);
  }
  if (!CHECK(serviced == 1)) {
    fprintf(stderr, "%s\n", serviced < 0 ? why.message : "not in time");
    rd_pending_destroy(pending);
    return;
  }
  struct rd_connection *connection = take_connection(pending);
  say(connection, RD_FRAME_PING, 0, NULL, 0);
  for (int64_t until_ms = rd_now_ms() + WAIT_MS; end->connection == NULL && rd_now_ms() < until_ms;) service(end);
  CHECK(end->connection != NULL);
  rd_connection_destroy(connection);
}

// Tests -------------------------------------------------------------------------------------------------------------

// A peer whose first message proves the key is kept, however many others connect.
static void the_first_word(void) {
  struct end end;
  struct silent_peer silent_peers[SILENT_PEERS_MAX];
  open_end(&end, "127.0.0.1", false, WAIT_MS);
  listen_at(&end);
  struct rd_pending *pending = begin_to_shake(connect_to(&end), RD_ROLE_SENDER, (struct rd_hello){0});
  REQUIRE(rd_pending_service(pending, &error) == 0); // its first message
  do service(&end);
  while (rd_wait_fd(rd_pending_poll(pending).fd, POLLIN, 10) != 1); // it was answered
  for (size_t i = 0; i < SILENT_PEERS_MAX; i++) {
    silent_peer_connect(&silent_peers[i], &end);
    silent_peers_connected(&silent_peers[i], 1, &end);
  }
  CHECK(held(&end) == RD_PENDING_MAX);
  get_through(pending, &end);
  for (size_t i = 0; i < SILENT_PEERS_MAX; i++) silent_peer_leave(&silent_peers[i]);
  close_end(&end);
}

// Even if many connections are pending, those that were accepted are served.
static void a_few_at_once(void) {
  struct end end;
  struct silent_peer silent_peers[40];
  size_t count = sizeof silent_peers / sizeof silent_peers[0];
  open_end(&end, "127.0.0.1", false, WAIT_MS);
  listen_at(&end);
  for (size_t i = 0; i < count; i++) {
    silent_peer_connect(&silent_peers[i], &end);
    while (silent_peers[i].transport == NULL)
      REQUIRE(silent_peers[i].connector->ops->accept(silent_peers[i].connector, &silent_peers[i].transport, &error) >=
              0);
  }
  service(&end);
  CHECK(held(&end) > 0 && held(&end) < count);
  for (int passes = 0; passes < 4; passes++) service(&end);
  CHECK(held(&end) == count);
  for (size_t i = 0; i < count; i++) silent_peer_leave(&silent_peers[i]);
  close_end(&end);
}

// A dialer that was evicted by a full listener dials again.
static void evicted_while_dialling(unsigned times) {
  struct end end;
  struct rd_address address = {.host = "127.0.0.1"};
  struct rd_connector *listener = rd_tcp_listen("127.0.0.1", 0, 0, &address.port, &error);
  REQUIRE(listener != NULL);
  open_end(&end, "127.0.0.1", false, WAIT_MS);
  REQUIRE(rd_establisher_dial(end.connect, &address, 1, &error));
  unsigned came = 0;
  for (int64_t until_ms = rd_now_ms() + WAIT_MS; end.failures == 0 && came < times && rd_now_ms() < until_ms;) {
    struct rd_transport *transport = NULL;
    service(&end);
    CHECK(listener->ops->accept(listener, &transport, &error) >= 0);
    came += transport != NULL;
    rd_transport_destroy(transport);
  }
  CHECK(end.failures == (came < times));
  CHECK(came == (times < 4 ? times : 4));
  rd_connector_destroy(listener);
  close_end(&end);
}

// RDMA --------------------------------------------------------------------------------------------------------------

// Memory that devices hold in place for this process, which has both ends of a connection.
static size_t pinned_kib(void) {
  char line[256];
  size_t kib = 0;
  FILE *status = fopen("/proc/self/status", "re");
  REQUIRE(status != NULL);
  while (fgets(line, sizeof line, status) != NULL) (void)sscanf(line, "VmPin: %zu kB", &kib);
  fclose(status);
  return kib;
}

static void amid_silent_connectors(const char *host) {
  struct end end;
  struct silent_peer silent_peers[RD_PENDING_RDMA_MAX + 4];
  const size_t count = sizeof silent_peers / sizeof silent_peers[0];
  open_end(&end, host, true, WAIT_MS);
  listen_at(&end);
  size_t before_kib = pinned_kib();
  for (size_t i = 0; i < count; i++) {
    silent_peer_connect(&silent_peers[i], &end);
    silent_peers_connected(&silent_peers[i], 1, &end);
  }
  CHECK(held(&end) == RD_PENDING_RDMA_MAX);
  size_t each_kib = (pinned_kib() - before_kib) / (count + RD_PENDING_RDMA_MAX);
  printf("an rdma connection that is not authenticated: %zu KiB pinned\n", each_kib);
  CHECK(each_kib > 0 && each_kib <= 64);
  get_through(begin_to_shake(connect_to(&end), RD_ROLE_SENDER, (struct rd_hello){0}), &end);
  for (size_t i = 0; i < count; i++) silent_peer_leave(&silent_peers[i]);
  close_end(&end);
}

// A silent connection is held for a while, then reported.
static void one_that_says_nothing(const char *host) {
  struct end end;
  struct silent_peer silent_peer;
  open_end(&end, host, true, 0);
  listen_at(&end);
  int64_t began_ms = rd_now_ms();
  silent_peer_connect(&silent_peer, &end);
  silent_peers_connected(&silent_peer, 1, &end);
  while (held(&end) > 0 && rd_now_ms() < began_ms + WAIT_MS) {
    struct pollfd polls[RD_ESTABLISHER_POLLS_MAX];
    poll(polls, rd_establisher_polls(end.connect, polls), 100);
    service(&end);
  }
  CHECK(held(&end) == 0 && rd_now_ms() - began_ms >= HELD_MS && end.rejected == 1);
  silent_peer_leave(&silent_peer);
  close_end(&end);
}

int main(int argc, char **argv) {
  if (argc > 1) {
    amid_silent_connectors(argv[1]);
    one_that_says_nothing(argv[1]);
    return test_end("connection_flood");
  }
  the_first_word();
  a_few_at_once();
  for (unsigned times = 1; times <= 5; times += 2) evicted_while_dialling(times);
  return test_end("connection_flood");
}
