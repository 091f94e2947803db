// SPDX-License-Identifier: Apache-2.0
// Dials several addresses at once. Without an RDMA device the RDMA attempt is refused at once, otherwise by the device:
// in both cases no process listens there.
#include "conn/dialer.h"

#include "base/io.h"
#include "conn/establisher.h"
#include "test.h"
#include "transport/tcp/connector.h"

#include <string.h>

static struct rd_error error;

static struct rd_address address_of(uint16_t port, bool rdma) {
  return (struct rd_address){.host = "127.0.0.1", .port = port, .rdma = rdma};
}

// A port on which no process listens.
static uint16_t closed_port(void) {
  uint16_t port;
  struct rd_connector *listener = rd_tcp_listen("127.0.0.1", 0, 0, &port, &error);
  REQUIRE(listener != NULL);
  rd_connector_destroy(listener);
  return port;
}

static struct rd_transport *wait_for(struct rd_dialer *dialer) {
  struct pollfd polls[RD_DIALER_MAX];
  struct rd_transport *transport = NULL;
  const struct rd_address *address;
  while (!rd_dialer_next(dialer, &transport, &address) && rd_dialer_under_way(dialer)) {
    int64_t left_ms = rd_dialer_due_ms(dialer) - rd_now_ms();
    poll(polls, rd_dialer_polls(dialer, polls), left_ms > 0 ? (int)left_ms : 0);
  }
  return transport;
}

static void test_tcp_beside_rdma(void) {
  struct rd_dialer dialer = {.config = {.timeout_ms = WAIT_MS, .retry_refused = true, .rdma_first = true}};
  struct rd_address addresses[2];
  uint16_t port;
  struct rd_connector *listener = rd_tcp_listen("127.0.0.1", 0, 0, &port, &error);
  REQUIRE(listener != NULL);
  for (int i = 0; i < 2; i++) addresses[i] = address_of(port, i == 0);
  int64_t before_ms = rd_now_ms();
  REQUIRE(rd_dialer_add(&dialer, addresses, 2, &error));
  struct rd_transport *transport = wait_for(&dialer);
  REQUIRE(transport != NULL);
  CHECK(strcmp(transport->ops->name, "tcp") == 0 && rd_now_ms() - before_ms < WAIT_MS / 4);
  rd_transport_destroy(transport);
  rd_dialer_clear(&dialer);
  rd_connector_destroy(listener);
}

static void test_words_of_both(void) {
  struct rd_dialer dialer = {.config = {.timeout_ms = WAIT_MS, .rdma_first = true}};
  uint16_t port = closed_port();
  struct rd_address addresses[2] = {address_of(port, true), address_of(port, false)};
  char words[64];
  REQUIRE(rd_dialer_add(&dialer, addresses, 2, &error));
  CHECK(wait_for(&dialer) == NULL && dialer.failure.code == RD_CODE_CANNOT_CONNECT);
  snprintf(words, sizeof words, "; 127.0.0.1:%u: connection refused", port);
  CHECK(strstr(dialer.failure.message, "rdma") != NULL && strstr(dialer.failure.message, words) != NULL);
  rd_dialer_clear(&dialer);
}

static void test_no_listener_yet(void) {
  struct rd_dialer dialer = {.config = {.timeout_ms = WAIT_MS, .retry_refused = true}};
  struct rd_transport *transport = NULL;
  uint16_t port = closed_port();
  const struct rd_address address = address_of(port, false), *dialled;
  REQUIRE(rd_dialer_add(&dialer, &address, 1, &error));
  while (dialer.each[0].try_at_ms == 0) REQUIRE(!rd_dialer_next(&dialer, &transport, &dialled));
  CHECK(rd_dialer_under_way(&dialer) && rd_dialer_due_ms(&dialer) < rd_now_ms() + WAIT_MS / 4);
  struct rd_connector *listener = rd_tcp_listen("127.0.0.1", port, port, &port, &error);
  REQUIRE(listener != NULL);
  transport = wait_for(&dialer);
  CHECK(transport != NULL);
  rd_transport_destroy(transport);
  rd_dialer_clear(&dialer);
  rd_connector_destroy(listener);
}

static void test_the_time_is_over(void) {
  struct rd_dialer dialer = {.config = {.timeout_ms = 300, .retry_refused = true}};
  struct rd_address address = address_of(closed_port(), false);
  REQUIRE(rd_dialer_add(&dialer, &address, 1, &error));
  CHECK(wait_for(&dialer) == NULL && strstr(dialer.failure.message, "connection refused") != NULL);
  CHECK(rd_dialer_due_ms(&dialer) == INT64_MAX);
  rd_dialer_clear(&dialer);
}

static void test_counts(void) {
  struct rd_dialer dialer = {.config = {.timeout_ms = WAIT_MS}};
  struct rd_address addresses[RD_DIALER_MAX + 1] = {{.port = 0}};
  CHECK(!rd_dialer_add(&dialer, addresses, 0, &error) && !rd_dialer_add(&dialer, addresses, RD_DIALER_MAX + 1, &error));
  CHECK(dialer.count == 0 && !rd_dialer_under_way(&dialer));
}

// A listener that cannot be opened does not affect the other one.
static void test_two_listeners(void) {
  static const unsigned char key[RD_KEY_BYTES];
  struct rd_establisher_config config = {.identity = {.key = key, .run = "test"},
                                         .role = RD_ROLE_RECEIVER,
                                         .buffer_bytes = 64 << 10,
                                         .stall_timeout_ms = WAIT_MS,
                                         .dialer = {.timeout_ms = WAIT_MS}};
  struct rd_establisher *connect = rd_establisher_create(&config);
  struct pollfd polls[RD_ESTABLISHER_POLLS_MAX];
  uint16_t port, other;
  struct rd_listen_config tcp = {.bind_host = "127.0.0.1"}, nowhere = {.rdma = true, .bind_host = "no address"};
  REQUIRE(rd_establisher_listen(connect, &tcp, &port, &error));
  CHECK(!rd_establisher_listen(connect, &nowhere, &other, &error) && error.message[0] != '\0');
  CHECK(rd_establisher_polls(connect, polls) == 1);
  struct rd_address address = address_of(port, false);
  struct rd_connector *attempt = rd_tcp_dial(&address, &error);
  REQUIRE(attempt != NULL);
  CHECK(poll(polls, 1, WAIT_MS) == 1);
  CHECK(rd_establisher_service(connect, &error) == 0 && rd_establisher_polls(connect, polls) == 2);
  rd_connector_destroy(attempt);
  rd_establisher_destroy(connect);
}

int main(void) {
  test_tcp_beside_rdma();
  test_words_of_both();
  test_no_listener_yet();
  test_the_time_is_over();
  test_counts();
  test_two_listeners();
  return test_end("dialer");
}
