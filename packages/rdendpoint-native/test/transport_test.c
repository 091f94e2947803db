// SPDX-License-Identifier: Apache-2.0
// The contract of every transport (transport.h), tested unchanged over each backend. With an address of this machine as
// argument, also over RDMA: `transport_test 10.0.0.1`.
#include "transport/transport.h"

#include "base/bytes.h"
#include "base/io.h"
#include "memory_transport.h"
#include "test.h"
#include "transport/tcp/connector.h"
#include "transport/verbs/connector.h"
#include "wire/wire.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SLOTS = 3 };

// A method to create two joined ends.
struct backend {
  const char *name;
  void (*join)(struct rd_transport *ends[2]);
};

static struct rd_error error;

static void join_memory(struct rd_transport *ends[2]) {
  REQUIRE(rd_mem_pair(NULL, ends, &error));
}

static void join_troubled_memory(struct rd_transport *ends[2]) {
  const struct rd_mem_faults faults = {.refuse_every = 2, .queue_messages = 1};
  REQUIRE(rd_mem_pair(&faults, ends, &error));
}

static void join_unix(struct rd_transport *ends[2]) {
  int fds[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
  for (int i = 0; i < 2; i++) REQUIRE((ends[i] = rd_tcp_adopt(fds[i], &error)) != NULL);
}

static struct rd_transport *take_connection(struct rd_connector *connector) {
  struct rd_transport *transport = NULL;
  int result = 0;
  while (result == 0) {
    REQUIRE(rd_wait_fd(connector->ops->poll_fd(connector), POLLIN, WAIT_MS) == 1);
    result = connector->ops->accept(connector, &transport, &error);
  }
  REQUIRE(result == 1);
  return transport;
}

static void join_tcp(struct rd_transport *ends[2]) {
  struct rd_address address = {.host = "127.0.0.1"};
  struct rd_connector *listener = rd_tcp_listen("127.0.0.1", 0, 0, &address.port, &error);
  REQUIRE(listener != NULL);
  struct rd_connector *dial = rd_tcp_dial(&address, &error);
  REQUIRE(dial != NULL);
  ends[0] = take_connection(dial);
  ends[1] = take_connection(listener);
  rd_connector_destroy(dial);
  rd_connector_destroy(listener);
}

enum { LANES = 4 };

// One connection of several lanes, each made by `join`.
static void join_lanes(void (*join)(struct rd_transport *ends[2]), struct rd_transport *ends[2]) {
  struct rd_transport *lane[2];
  join(ends);
  for (int i = 0; i < 2; i++) {
    CHECK(ends[i]->ops->lanes_most(ends[i]) == RD_LANES_MAX);
    ends[i]->ops->expect_lanes(ends[i], LANES, 0);
  }
  for (int number = 1; number < LANES; number++) {
    join(lane);
    for (int i = 0; i < 2; i++) REQUIRE(ends[i]->ops->join(ends[i], lane[i], &error));
  }
}

static void join_sockets(struct rd_transport *ends[2]) {
  join_lanes(join_tcp, ends);
}

static struct rd_address rdma_address = {.rdma = true};

// Both ends are in one thread: the listener must accept the request before the dial can complete.
static void join_rdma(struct rd_transport *ends[2]) {
  struct rd_connector *listener = rd_verbs_listen(rdma_address.host, 0, 0, false, &rdma_address.port, &error);
  REQUIRE(listener != NULL);
  struct rd_connector *connectors[2] = {rd_verbs_dial(&rdma_address, false, &error), listener};
  REQUIRE(connectors[0] != NULL);
  ends[0] = ends[1] = NULL;
  while (ends[0] == NULL || ends[1] == NULL) {
    struct pollfd polls[2];
    for (int i = 0; i < 2; i++) polls[i] = (struct pollfd){connectors[i]->ops->poll_fd(connectors[i]), POLLIN, 0};
    REQUIRE(poll(polls, 2, WAIT_MS) > 0);
    for (int i = 0; i < 2; i++)
      if (ends[i] == NULL) REQUIRE(connectors[i]->ops->accept(connectors[i], &ends[i], &error) >= 0);
  }
  rd_connector_destroy(connectors[0]);
  rd_connector_destroy(connectors[1]);
}

static void join_queue_pairs(struct rd_transport *ends[2]) {
  join_lanes(join_rdma, ends);
}

static void arm(struct rd_transport *end, unsigned slots, size_t payload_bytes) {
  REQUIRE(end->ops->arm(end, slots, payload_bytes, &error));
}

static void destroy(struct rd_transport *ends[2]) {
  rd_transport_destroy(ends[0]);
  rd_transport_destroy(ends[1]);
}

static void wait_for(const struct rd_transport *end) {
  REQUIRE(rd_wait_fd(end->ops->poll_fd(end), end->ops->poll_events(end), WAIT_MS) == 1);
}

// Fills in message `number`; its header has its length.
static void fill_message(unsigned char *message, uint32_t number, size_t bytes) {
  memset(message, (int)(number % 251), bytes);
  rd_put_u32(message, number);
  rd_put_u32(message + 4, (uint32_t)bytes);
}

static bool is_message(const struct rd_message *message, uint32_t number, size_t bytes) {
  const unsigned char *data = message->data;
  if (message->bytes != bytes || rd_get_u32(data) != number || rd_get_u32(data + 4) != bytes) return false;
  for (size_t i = 8; i < bytes; i++)
    if (data[i] != number % 251) return false;
  return true;
}

// Splits it into up to four parts, some of them empty.
static int split(unsigned char *message, size_t bytes, struct iovec parts[4]) {
  size_t middle = RD_HEADER_BYTES + (bytes - RD_HEADER_BYTES) / 2;
  parts[0] = (struct iovec){message, RD_HEADER_BYTES};
  parts[1] = (struct iovec){message + RD_HEADER_BYTES, middle - RD_HEADER_BYTES};
  parts[2] = (struct iovec){message + middle, 0};
  parts[3] = (struct iovec){message + middle, bytes - middle};
  return 4;
}

static bool flush(struct rd_transport *end) {
  return end->ops->flush(end, &error);
}

static int send_now(struct rd_transport *end, unsigned char *message, size_t bytes) {
  struct iovec parts[4];
  return end->ops->send(end, parts, split(message, bytes, parts), &error);
}

static int receive(struct rd_transport *end, struct rd_message *message) {
  return end->ops->receive(end, message, &error);
}

static void give_back(struct rd_transport *end, const struct rd_message *message) {
  end->ops->give_back(end, message);
}

static struct rd_message receive_waiting(struct rd_transport *end) {
  struct rd_message message;
  int result;
  while ((result = receive(end, &message)) == 0) wait_for(end);
  REQUIRE(result == 1);
  return message;
}

// Sends it and waits until its memory is free again.
static void send_whole(struct rd_transport *end, unsigned char *message, size_t bytes) {
  uint64_t released = end->ops->released(end);
  while (send_now(end, message, bytes) == 0) REQUIRE(flush(end));
  REQUIRE(flush(end));
  while (end->ops->released(end) == released) {
    wait_for(end);
    REQUIRE(flush(end));
  }
  CHECK(end->ops->released(end) == released + 1);
}

// Sizes around every relevant boundary: the header, a page, the socket buffers, the largest payload with its tag.
static const size_t sizes[] = {
    24,        25,     40,      4095,    4096,    4097,
    4096 + 24, 16384,  65535,   65536,   65537,   200000,
    524288,    999999, 1048575, 1048576, 1048600, RD_SLOT_MAX_BYTES + RD_HEADER_BYTES + RD_TAG_BYTES,
};
enum { SIZES = sizeof sizes / sizeof sizes[0], ROUNDS = 3 };

static void *send_all_sizes(void *argument) {
  struct rd_transport *end = argument;
  unsigned char *memory = malloc(sizes[SIZES - 1]);
  REQUIRE(memory != NULL);
  for (uint32_t number = 0; number < ROUNDS * SIZES; number++) {
    size_t bytes = sizes[number % SIZES];
    fill_message(memory, number, bytes);
    send_whole(end, memory, bytes);
    memset(memory, 0xff, bytes); // released: the transport may not read it again
  }
  free(memory);
  return NULL;
}

static void order_and_sizes(struct rd_transport *sender, struct rd_transport *receiver) {
  arm(receiver, SLOTS, RD_SLOT_MAX_BYTES);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, NULL, send_all_sizes, sender) == 0);
  for (uint32_t number = 0; number < ROUNDS * SIZES; number++) {
    struct rd_message message = receive_waiting(receiver);
    CHECK(is_message(&message, number, sizes[number % SIZES]));
    CHECK((uintptr_t)(message.data + RD_HEADER_BYTES) % (uintptr_t)sysconf(_SC_PAGESIZE) == 0);
    give_back(receiver, &message);
  }
  pthread_join(thread, NULL);
}

static void both_directions(const struct backend *backend) {
  struct rd_transport *ends[2];
  backend->join(ends);
  order_and_sizes(ends[0], ends[1]);
  order_and_sizes(ends[1], ends[0]);
  CHECK(ends[0]->ops->local_name(ends[0])[0] != '\0' && ends[0]->ops->peer_name(ends[0])[0] != '\0');
  destroy(ends);
}

enum { PRESSURE_BYTES = 1 << 20, PRESSURE_MAX = 64 };

// Sends messages from `memory` until none is accepted although everything was flushed; returns how many were accepted.
static uint32_t fill_up(struct rd_transport *end, unsigned char *memory) {
  uint32_t accepted = 0;
  for (int refusals = 0; refusals < 3 && accepted < PRESSURE_MAX; refusals++) {
    for (; accepted < PRESSURE_MAX; accepted++, refusals = 0) {
      fill_message(memory + accepted * PRESSURE_BYTES, accepted, PRESSURE_BYTES);
      if (send_now(end, memory + accepted * PRESSURE_BYTES, PRESSURE_BYTES) == 0) break;
      REQUIRE(flush(end));
    }
    REQUIRE(flush(end));
  }
  return accepted;
}

// One thread drives both ends.
static struct rd_message receive_while_flushing(struct rd_transport *ends[2]) {
  struct rd_message message;
  int result;
  while ((result = receive(ends[1], &message)) == 0) {
    REQUIRE(flush(ends[0]));
    struct pollfd waiting[2];
    for (int i = 0; i < 2; i++)
      waiting[i] = (struct pollfd){ends[i]->ops->poll_fd(ends[i]), ends[i]->ops->poll_events(ends[i]), 0};
    REQUIRE(poll(waiting, 2, WAIT_MS) > 0);
  }
  REQUIRE(result == 1);
  return message;
}

static void backpressure(const struct backend *backend) {
  struct rd_transport *ends[2];
  backend->join(ends);
  arm(ends[1], SLOTS, PRESSURE_BYTES);
  unsigned char *memory = malloc((size_t)PRESSURE_BYTES * PRESSURE_MAX);
  REQUIRE(memory != NULL);
  uint32_t accepted = fill_up(ends[0], memory);
  CHECK(accepted > 0 && accepted < PRESSURE_MAX);
  CHECK(ends[0]->ops->released(ends[0]) < accepted);
  for (uint32_t number = 0; number < accepted; number++) {
    struct rd_message message = receive_while_flushing(ends);
    CHECK(is_message(&message, number, PRESSURE_BYTES));
    give_back(ends[1], &message);
  }
  REQUIRE(flush(ends[0]));
  CHECK(ends[0]->ops->released(ends[0]) == accepted);
  free(memory);
  destroy(ends);
}

// The sender disappears when one of its messages was sent in part or not at all.
static void closed_amid_messages(const struct backend *backend) {
  struct rd_transport *ends[2];
  struct rd_message message;
  backend->join(ends);
  arm(ends[1], SLOTS, PRESSURE_BYTES);
  unsigned char *memory = malloc((size_t)PRESSURE_BYTES * PRESSURE_MAX);
  REQUIRE(memory != NULL);
  uint32_t accepted = fill_up(ends[0], memory), number = 0;
  uint64_t released = ends[0]->ops->released(ends[0]);
  rd_transport_destroy(ends[0]);
  free(memory);
  int result;
  while ((result = receive(ends[1], &message)) >= 0) {
    if (result == 0) {
      wait_for(ends[1]);
      continue;
    }
    CHECK(is_message(&message, number++, PRESSURE_BYTES));
    give_back(ends[1], &message);
  }
  CHECK(rd_code_is_loss(error.code));
  CHECK(number >= released && number < accepted);
  rd_transport_destroy(ends[1]);
}

// Flushed messages arrive although their sender is gone.
static void closed_after_messages(const struct backend *backend) {
  struct rd_transport *ends[2];
  struct rd_message message;
  unsigned char bytes[100];
  backend->join(ends);
  arm(ends[1], SLOTS, PRESSURE_BYTES);
  fill_message(bytes, 7, sizeof bytes);
  send_whole(ends[0], bytes, sizeof bytes);
  rd_transport_destroy(ends[0]);
  message = receive_waiting(ends[1]);
  CHECK(is_message(&message, 7, sizeof bytes));
  int result;
  while ((result = receive(ends[1], &message)) == 0) wait_for(ends[1]);
  CHECK(result == -1 && rd_code_is_loss(error.code));
  CHECK(receive(ends[1], &message) == -1 && rd_code_is_loss(error.code));
  rd_transport_destroy(ends[1]);
}

// An end that begins to expect releases gets them, whether or not they happened before; and a message that arrives
// after the descriptor was quiet is not missed.
static void releases_when_expected(const struct backend *backend) {
  enum { TIMES = 20 };
  struct rd_transport *ends[2];
  unsigned char bytes[100];
  backend->join(ends);
  arm(ends[1], SLOTS, PRESSURE_BYTES);
  for (uint32_t number = 0; number < TIMES; number++) {
    fill_message(bytes, number, sizeof bytes);
    uint64_t released = ends[0]->ops->released(ends[0]);
    ends[0]->ops->expect_releases(ends[0], false);
    ends[1]->ops->quiet(ends[1]);
    while (send_now(ends[0], bytes, sizeof bytes) == 0) REQUIRE(flush(ends[0]));
    REQUIRE(flush(ends[0]));
    bool is_over = number % 2 == 1;
    for (int turn = 0; turn < 2; turn++) {
      if ((turn == 0) == is_over) {
        struct rd_message message = receive_waiting(ends[1]);
        CHECK(is_message(&message, number, sizeof bytes));
        give_back(ends[1], &message);
        continue;
      }
      ends[0]->ops->expect_releases(ends[0], true);
      REQUIRE(flush(ends[0]));
      while (ends[0]->ops->released(ends[0]) == released) {
        wait_for(ends[0]);
        REQUIRE(flush(ends[0]));
      }
    }
  }
  destroy(ends);
}

static void sending_to_a_closed_end(const struct backend *backend) {
  struct rd_transport *ends[2];
  unsigned char bytes[100];
  backend->join(ends);
  rd_transport_destroy(ends[1]);
  fill_message(bytes, 0, sizeof bytes);
  bool alive = true;
  for (int64_t deadline_ms = rd_now_ms() + WAIT_MS; alive && rd_now_ms() < deadline_ms;) {
    (void)send_now(ends[0], bytes, sizeof bytes);
    alive = flush(ends[0]);
  }
  CHECK(!alive && rd_code_is_loss(error.code));
  rd_transport_destroy(ends[0]);
}

static void slots_run_out(const struct backend *backend) {
  struct rd_transport *ends[2];
  struct rd_message held[SLOTS], message;
  unsigned char bytes[SLOTS + 2][5000];
  backend->join(ends);
  arm(ends[1], SLOTS, RD_SLOT_MAX_BYTES);
  for (uint32_t i = 0; i < SLOTS; i++) {
    fill_message(bytes[i], i, sizeof bytes[i]);
    send_whole(ends[0], bytes[i], sizeof bytes[i]);
    held[i] = receive_waiting(ends[1]);
  }
  fill_message(bytes[3], 3, sizeof bytes[3]);
  send_whole(ends[0], bytes[3], sizeof bytes[3]);
  CHECK(receive(ends[1], &message) == 0 && receive(ends[1], &message) == 0);
  for (uint32_t i = 0; i < SLOTS; i++) CHECK(is_message(&held[i], i, sizeof bytes[i]));
  give_back(ends[1], &held[1]); // out of order
  message = receive_waiting(ends[1]);
  CHECK(is_message(&message, 3, sizeof bytes[3]));
  CHECK(is_message(&held[0], 0, sizeof bytes[0]) && is_message(&held[2], 2, sizeof bytes[2]));
  give_back(ends[1], &held[2]);
  give_back(ends[1], &message);
  give_back(ends[1], &held[0]);
  fill_message(bytes[4], 4, sizeof bytes[4]);
  send_whole(ends[0], bytes[4], sizeof bytes[4]);
  message = receive_waiting(ends[1]);
  CHECK(is_message(&message, 4, sizeof bytes[4]));
  destroy(ends);
}

static void before_arming(const struct backend *backend) {
  struct rd_transport *ends[2];
  unsigned char early[RD_HANDSHAKE_MESSAGE_MAX_BYTES], later[RD_HANDSHAKE_MESSAGE_MAX_BYTES + 1];
  backend->join(ends);
  fill_message(early, 1, sizeof early);
  send_whole(ends[0], early, sizeof early);
  struct rd_message message = receive_waiting(ends[1]);
  CHECK(is_message(&message, 1, sizeof early));
  CHECK(!ends[1]->ops->arm(ends[1], SLOTS, 100000, &error) && error.code == RD_CODE_INTERNAL);
  give_back(ends[1], &message);
  fill_message(later, 2, sizeof later);
  send_whole(ends[0], later, sizeof later); // already for the memory that is allocated next
  arm(ends[1], SLOTS, 100000);
  message = receive_waiting(ends[1]);
  CHECK(is_message(&message, 2, sizeof later));
  destroy(ends);
}

static void refuses_length(const struct backend *backend, unsigned slots, size_t payload_bytes, size_t bytes) {
  struct rd_transport *ends[2];
  struct rd_message message;
  unsigned char *memory = malloc(bytes);
  backend->join(ends);
  REQUIRE(memory != NULL);
  if (slots > 0) arm(ends[1], slots, payload_bytes);
  fill_message(memory, 0, bytes);
  send_whole(ends[0], memory, bytes);
  int result;
  while ((result = receive(ends[1], &message)) == 0) wait_for(ends[1]);
  CHECK(result == -1 && error.code == RD_CODE_DATA_DAMAGED);
  free(memory);
  destroy(ends);
}

static void bad_sends(const struct backend *backend) {
  struct rd_transport *ends[2];
  unsigned char bytes[RD_HEADER_BYTES] = {0};
  struct iovec short_part = {bytes, RD_HEADER_BYTES - 1}, parts[5] = {{bytes, 8}, {bytes, 8}, {bytes, 8}};
  backend->join(ends);
  int result;
  while ((result = ends[0]->ops->send(ends[0], &short_part, 1, &error)) == 0) REQUIRE(flush(ends[0]));
  CHECK(result == -1 && error.code == RD_CODE_INTERNAL);
  while ((result = ends[0]->ops->send(ends[0], parts, 5, &error)) == 0) REQUIRE(flush(ends[0]));
  CHECK(result == -1 && error.code == RD_CODE_INTERNAL);
  destroy(ends);
}

static void of_any_number_of_lanes(const struct backend *backend) {
  both_directions(backend);
  backpressure(backend);
  closed_amid_messages(backend);
  closed_after_messages(backend);
  releases_when_expected(backend);
  sending_to_a_closed_end(backend);
  bad_sends(backend);
}

static void conformance(const struct backend *backend) {
  of_any_number_of_lanes(backend);
  slots_run_out(backend);
  before_arming(backend);
  refuses_length(backend, 0, 0, RD_HANDSHAKE_MESSAGE_MAX_BYTES + 1);
  refuses_length(backend, 1, 5000, 5000 + RD_HEADER_BYTES + RD_TAG_BYTES + 1);
}

// More lanes than agreed, or of another kind, and a second message of one number, are refused.
static void bad_lanes(void) {
  struct rd_transport *ends[2], *lane[2];
  struct rd_message message;
  int bare[2];
  unsigned char bytes[4 + RD_HEADER_BYTES] = {0};
  join_sockets(ends);
  join_tcp(lane);
  CHECK(!ends[0]->ops->join(ends[0], lane[0], &error) && error.code == RD_CODE_DATA_DAMAGED);
  rd_transport_destroy(lane[1]);
  destroy(ends);
  join_tcp(ends);
  join_memory(lane);
  ends[0]->ops->expect_lanes(ends[0], LANES, 0);
  CHECK(!ends[0]->ops->join(ends[0], lane[0], &error) && error.code == RD_CODE_DATA_DAMAGED);
  rd_transport_destroy(lane[1]);
  destroy(ends);
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, bare) == 0);
  ends[0] = rd_tcp_adopt(bare[0], &error);
  REQUIRE(ends[0] != NULL);
  CHECK(ends[0]->ops->lanes_most(ends[0]) == 1);
  ends[0]->ops->expect_lanes(ends[0], LANES, 1);
  arm(ends[0], SLOTS, PRESSURE_BYTES);
  rd_put_u32(bytes, RD_HEADER_BYTES | 5u << 21);
  for (int i = 0; i < 2; i++) REQUIRE(rd_write_all(bare[1], bytes, sizeof bytes));
  int result;
  while ((result = receive(ends[0], &message)) == 0) wait_for(ends[0]);
  CHECK(result == -1 && error.code == RD_CODE_DATA_DAMAGED);
  close(bare[1]);
  rd_transport_destroy(ends[0]);
}

// Sends `count` messages from ends[0] one after the other; returns how many arrived intact.
static unsigned arrives_with(const struct rd_mem_faults *faults, unsigned count) {
  struct rd_transport *ends[2];
  struct rd_message message;
  unsigned char bytes[100];
  unsigned whole = 0;
  REQUIRE(rd_mem_pair(faults, ends, &error));
  for (unsigned number = 0; number < count; number++) {
    fill_message(bytes, number, sizeof bytes);
    if (send_now(ends[0], bytes, sizeof bytes) != 1 || !flush(ends[0]) || receive(ends[1], &message) != 1) break;
    whole += is_message(&message, number, sizeof bytes);
    give_back(ends[1], &message);
  }
  int last = receive(ends[1], &message);
  CHECK(faults->close_after == 0 ? last == 0 : last == -1 && rd_code_is_loss(error.code));
  destroy(ends);
  return whole;
}

static void faults_on_request(void) {
  CHECK(arrives_with(&(struct rd_mem_faults){0}, 10) == 10);
  CHECK(arrives_with(&(struct rd_mem_faults){.corrupt_message = 4}, 10) == 9);
  CHECK(arrives_with(&(struct rd_mem_faults){.close_after = 4}, 10) == 4);
}

int main(int argc, char **argv) {
  static const struct backend backends[] = {
      {"memory", join_memory},
      {"memory with faults", join_troubled_memory},
      {"unix socket", join_unix},
      {"tcp", join_tcp},
  };
  for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) conformance(&backends[i]);
  of_any_number_of_lanes(&(struct backend){"tcp with several sockets", join_sockets});
  bad_lanes();
  if (argc > 1) {
    snprintf(rdma_address.host, sizeof rdma_address.host, "%s", argv[1]);
    conformance(&(struct backend){"rdma", join_rdma});
    of_any_number_of_lanes(&(struct backend){"rdma with several queue pairs", join_queue_pairs});
  }
  faults_on_request();
  rd_transport_destroy(NULL);
  return test_end("transport");
}
