// SPDX-License-Identifier: Apache-2.0
// Properties of stream sockets only: bytes that arrive in any pieces, lengths, addresses, listening and dialing.
#include "base/address.h"
#include "base/bytes.h"
#include "base/io.h"
#include "test.h"
#include "transport/tcp/connector.h"
#include "transport/tcp/long_path.h"
#include "transport/transport.h"
#include "wire/wire.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct rd_error error;

// Creates a transport whose other end is a bare socket.
static struct rd_transport *adopt_one(int *bare) {
  int fds[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
  struct rd_transport *transport = rd_tcp_adopt(fds[0], &error);
  REQUIRE(transport != NULL);
  *bare = fds[1];
  return transport;
}

static int receive(struct rd_transport *transport, struct rd_message *message) {
  return transport->ops->receive(transport, message, &error);
}

static void byte_by_byte(void) {
  int bare;
  struct rd_transport *transport = adopt_one(&bare);
  unsigned char bytes[3 * (4 + 30)];
  for (unsigned i = 0; i < 3; i++) {
    rd_put_u32(bytes + i * 34, 30);
    memset(bytes + i * 34 + 4, (int)('a' + i), 30);
  }
  unsigned messages = 0;
  for (size_t i = 0; i < sizeof bytes; i++) {
    struct rd_message message;
    CHECK(receive(transport, &message) == 0);
    REQUIRE(rd_write_all(bare, bytes + i, 1));
    if ((i + 1) % 34 != 0) continue;
    CHECK(receive(transport, &message) == 1 && message.bytes == 30 && message.data[29] == 'a' + messages);
    transport->ops->give_back(transport, &message);
    messages++;
  }
  CHECK(messages == 3);
  close(bare);
  rd_transport_destroy(transport);
}

// Many small messages arrive at a time; when slots are free again, receiving continues with the bytes that are already
// here.
static void many_at_once(void) {
  enum { MESSAGES = 1000, BYTES = 30 };
  static unsigned char bytes[MESSAGES * (4 + BYTES)];
  struct rd_message message, kept[2];
  int bare;
  struct rd_transport *transport = adopt_one(&bare);
  REQUIRE(transport->ops->arm(transport, 2, 5000, &error));
  for (unsigned i = 0; i < MESSAGES; i++) {
    rd_put_u32(bytes + i * (4 + BYTES), BYTES);
    rd_put_u32(bytes + i * (4 + BYTES) + 4, i);
  }
  REQUIRE(rd_write_all(bare, bytes, sizeof bytes));
  CHECK(receive(transport, &kept[0]) == 1 && receive(transport, &kept[1]) == 1 && receive(transport, &message) == 0);
  CHECK(transport->ops->poll_events(transport) == 0);
  transport->ops->give_back(transport, &kept[0]);
  CHECK((transport->ops->poll_events(transport) & POLLOUT) != 0);
  transport->ops->give_back(transport, &kept[1]);
  unsigned messages = 2;
  for (; receive(transport, &message) == 1; messages++) {
    CHECK(message.bytes == BYTES && rd_get_u32(message.data) == messages);
    transport->ops->give_back(transport, &message);
  }
  CHECK(messages == MESSAGES && transport->ops->poll_events(transport) == POLLIN);
  close(bare);
  rd_transport_destroy(transport);
}

// The descriptor is not read again before receive() has returned AGAIN.
static void quiet(void) {
  struct rd_message message;
  int bare;
  struct rd_transport *transport = adopt_one(&bare);
  unsigned char bytes[4 + 30] = {30};
  transport->ops->quiet(transport);
  REQUIRE(rd_write_all(bare, bytes, sizeof bytes));
  CHECK(receive(transport, &message) == 0);
  CHECK(receive(transport, &message) == 1);
  close(bare);
  rd_transport_destroy(transport);
}

// Memory for data is set up after a part of the next message has arrived: `part` bytes of length and message.
static void armed_amid_a_message(size_t part) {
  int bare;
  struct rd_transport *transport = adopt_one(&bare);
  struct rd_message message;
  unsigned char bytes[4 + 1000];
  memset(bytes, 'x', sizeof bytes);
  rd_put_u32(bytes, 1000);
  REQUIRE(rd_write_all(bare, bytes, part));
  CHECK(receive(transport, &message) == 0);
  REQUIRE(transport->ops->arm(transport, 2, 5000, &error));
  REQUIRE(rd_write_all(bare, bytes + part, sizeof bytes - part));
  CHECK(receive(transport, &message) == 1 && message.bytes == 1000 && memcmp(message.data, bytes + 4, 1000) == 0);
  close(bare);
  rd_transport_destroy(transport);
}

static void armed_too_small(void) {
  int bare;
  struct rd_transport *transport = adopt_one(&bare);
  struct rd_message message;
  unsigned char bytes[4 + 1000] = {0};
  rd_put_u32(bytes, 1001);
  REQUIRE(rd_write_all(bare, bytes, sizeof bytes));
  CHECK(receive(transport, &message) == 0);
  CHECK(!transport->ops->arm(transport, 2, 100, &error) && error.code == RD_CODE_DATA_DAMAGED);
  close(bare);
  rd_transport_destroy(transport);
}

static void lengths(void) {
  static const uint32_t wrong[] = {0, 1, 23, 16385, 1u << 20, 0x20485454, 0xffffffff};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    int bare;
    struct rd_transport *transport = adopt_one(&bare);
    struct rd_message message;
    unsigned char bytes[4];
    rd_put_u32(bytes, wrong[i]);
    REQUIRE(rd_write_all(bare, bytes, sizeof bytes));
    CHECK(receive(transport, &message) == -1 && error.code == RD_CODE_DATA_DAMAGED);
    CHECK(receive(transport, &message) == -1 && error.code == RD_CODE_DATA_DAMAGED);
    close(bare);
    rd_transport_destroy(transport);
  }
}

static void closed_amid_a_message(void) {
  int bare;
  struct rd_transport *transport = adopt_one(&bare);
  struct rd_message message;
  unsigned char bytes[40] = {0};
  rd_put_u32(bytes, 100);
  REQUIRE(rd_write_all(bare, bytes, sizeof bytes));
  close(bare);
  CHECK(receive(transport, &message) == 0);
  CHECK(receive(transport, &message) == -1 && error.code == RD_CODE_PEER_CLOSED);
  CHECK(strstr(error.message, "in the middle") != NULL);
  rd_transport_destroy(transport);
}

static struct rd_transport *take(struct rd_connector *connector) {
  struct rd_transport *transport = NULL;
  int result;
  do {
    REQUIRE(rd_wait_fd(connector->ops->poll_fd(connector), POLLIN, WAIT_MS) == 1);
    result = connector->ops->accept(connector, &transport, &error);
  } while (result == 0);
  return result == 1 ? transport : NULL;
}

// Dials `host` at a listener bound to `bind_host`; expects the peer's name to be `peer` and the port.
static void dial_reaches(const char *bind_host, const char *host, const char *peer) {
  struct rd_address address = {0};
  struct rd_connector *listener = rd_tcp_listen(bind_host, 0, 0, &address.port, &error);
  REQUIRE(listener != NULL && address.port != 0);
  snprintf(address.host, sizeof address.host, "%s", host);
  struct rd_connector *dial = rd_tcp_dial(&address, &error);
  REQUIRE(dial != NULL);
  struct rd_transport *near = take(dial), *far = take(listener), *none = NULL;
  REQUIRE(near != NULL && far != NULL);
  char expected[100];
  snprintf(expected, sizeof expected, "%s:%u", peer, address.port);
  CHECK(strcmp(near->ops->peer_name(near), expected) == 0 && strcmp(far->ops->local_name(far), expected) == 0);
  CHECK(strcmp(near->ops->local_name(near), far->ops->peer_name(far)) == 0);
  CHECK(dial->ops->accept(dial, &none, &error) == 0 && listener->ops->accept(listener, &none, &error) == 0);
  rd_transport_destroy(near);
  rd_transport_destroy(far);
  rd_connector_destroy(dial);
  rd_connector_destroy(listener);
}

static bool has_ipv6(void) {
  uint16_t port;
  struct rd_connector *listener = rd_tcp_listen("::1", 0, 0, &port, &error);
  rd_connector_destroy(listener);
  return listener != NULL;
}

static void a_refused_dial(void) {
  struct rd_address address = {.host = "127.0.0.1"};
  struct rd_connector *listener = rd_tcp_listen("127.0.0.1", 0, 0, &address.port, &error);
  REQUIRE(listener != NULL);
  rd_connector_destroy(listener);
  struct rd_connector *dial = rd_tcp_dial(&address, &error);
  CHECK(dial == NULL || take(dial) == NULL);
  char expected[100];
  snprintf(expected, sizeof expected, "127.0.0.1:%u: connection refused", address.port);
  CHECK(error.code == RD_CODE_CANNOT_CONNECT && strcmp(error.message, expected) == 0);
  rd_connector_destroy(dial);
}

static void impossible_dials(void) {
  struct rd_address path = {.host = "/nonexistent/socket"}, nowhere = {.port = 1};
  snprintf(nowhere.host, sizeof nowhere.host, "no.such.name");
  CHECK(rd_tcp_dial(&path, &error) == NULL && error.code == RD_CODE_CANNOT_CONNECT);
  CHECK(strcmp(error.message, "/nonexistent/socket: no such file or directory") == 0);
  CHECK(rd_tcp_dial(&nowhere, &error) == NULL && error.code == RD_CODE_CANNOT_CONNECT);
}

static void a_dial_of_a_path(void) {
  char directory[] = "/tmp/rdpipe-test-XXXXXX";
  REQUIRE(mkdtemp(directory) != NULL);
  struct sockaddr_un local = {.sun_family = AF_UNIX};
  snprintf(local.sun_path, sizeof local.sun_path, "%s/socket", directory);
  int listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(bind(listening, (struct sockaddr *)&local, sizeof local) == 0 && listen(listening, 1) == 0);
  struct rd_address address = {0};
  snprintf(address.host, sizeof address.host, "%s", local.sun_path);
  struct rd_connector *dial = rd_tcp_dial(&address, &error);
  REQUIRE(dial != NULL);
  struct rd_transport *near = take(dial);
  REQUIRE(near != NULL);
  CHECK(strcmp(near->ops->peer_name(near), local.sun_path) == 0);
  rd_transport_destroy(near);
  rd_connector_destroy(dial);
  close(listening);
  unlink(local.sun_path);
  rmdir(directory);
}

static void ports(void) {
  uint16_t first, second;
  struct rd_connector *one = rd_tcp_listen("127.0.0.1", 0, 0, &first, &error);
  REQUIRE(one != NULL && first < UINT16_MAX);
  struct rd_connector *two = rd_tcp_listen("127.0.0.1", first, (uint16_t)(first + 1), &second, &error);
  CHECK(two == NULL ? error.code == RD_CODE_CANNOT_CONNECT : second == first + 1);
  CHECK(rd_tcp_listen("127.0.0.1", first, first, &second, &error) == NULL && error.code == RD_CODE_CANNOT_CONNECT);
  rd_connector_destroy(two);
  rd_connector_destroy(one);
  two = rd_tcp_listen("127.0.0.1", first, first, &second, &error); // free again, even at this end's address
  CHECK(two != NULL && second == first);
  rd_connector_destroy(two);
}

static bool has_words(const char *host, uint16_t port, const char *expected) {
  struct rd_socket_address socket_address;
  char words[RD_SOCKET_ADDRESS_TEXT_BYTES];
  if (rd_socket_address_find(host, port, &socket_address, 1, &error) != 1) return false;
  rd_socket_address_text(&socket_address, words);
  return strcmp(words, expected) == 0;
}

static void addresses(void) {
  CHECK(has_words("10.1.2.3", 80, "10.1.2.3:80"));
  CHECK(has_words("2001:db8::1", 443, "[2001:db8::1]:443"));
  CHECK(has_words("::ffff:10.1.2.3", 80, "10.1.2.3:80"));
  CHECK(has_words("fe80::1%lo", 1, "[fe80::1%lo]:1") && has_words("fe80::1%1", 1, "[fe80::1%lo]:1"));
  CHECK(has_words("/run/a socket", 0, "/run/a socket"));
  CHECK(!has_words("fe80::1%nonexistent0", 1, ""));
  char long_path[300] = "/";
  memset(long_path + 1, 'x', sizeof long_path - 2);
  CHECK(!has_words(long_path, 0, "") && strstr(error.message, "too long") != NULL); // without looking up such a name
}

#ifndef RD_STATIC
static struct sockaddr_in name_addresses[2];
static struct addrinfo name_list[2];

// Replaces the system's resolver: one name, whose first address refuses.
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **list) {
  if (strcmp(name, "two.addresses") != 0) return EAI_NONAME;
  for (int i = 0; i < 2; i++) {
    name_addresses[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(service))};
    inet_pton(AF_INET, i == 0 ? "127.0.0.2" : "127.0.0.1", &name_addresses[i].sin_addr);
    name_list[i] = (struct addrinfo){.ai_socktype = hints->ai_socktype,
                                     .ai_addrlen = sizeof name_addresses[i],
                                     .ai_addr = (struct sockaddr *)&name_addresses[i],
                                     .ai_next = i == 0 ? &name_list[1] : NULL};
  }
  *list = name_list;
  return 0;
}

void freeaddrinfo(struct addrinfo *list) {
  CHECK(list == name_list);
}
#endif

static int send_buffer_of(int socket_fd) {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  REQUIRE(getsockopt(socket_fd, SOL_SOCKET, SO_SNDBUF, &bytes, &size) == 0);
  return bytes;
}

static bool uses(int socket_fd, const char *congestion) {
  char used[16] = "";
  socklen_t bytes = sizeof used;
  REQUIRE(getsockopt(socket_fd, IPPROTO_TCP, TCP_CONGESTION, used, &bytes) == 0);
  return strcmp(used, congestion) == 0;
}

static void check_congestion(int tcp_fd) {
  bool may_have_bbr = setsockopt(tcp_fd, IPPROTO_TCP, TCP_CONGESTION, "bbr", 3) == 0;
  REQUIRE(setsockopt(tcp_fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4) == 0); // every user may choose it
  rd_tcp_tune_long_path(tcp_fd, 1u << 10, false);
  CHECK(uses(tcp_fd, "reno"));
  rd_tcp_tune_long_path(tcp_fd, 1u << 10, true);
  CHECK(uses(tcp_fd, may_have_bbr ? "bbr" : "reno"));
}

// The buffer is set if that gains: for this window root may, and others on systems with a high limit.
static void a_long_path(void) {
  const size_t window_bytes = 64u << 20;
  struct rd_limits limits;
  int bare, tcp_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), path_fds[2];
  struct rd_transport *transport = adopt_one(&bare);
  REQUIRE(tcp_fd >= 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, path_fds) == 0);
  int tcp_bytes = send_buffer_of(tcp_fd), path_bytes = send_buffer_of(path_fds[0]);
  rd_tcp_read_socket_limits();
  check_congestion(tcp_fd);
  CHECK(send_buffer_of(tcp_fd) == tcp_bytes);
  rd_tcp_tune_long_path(tcp_fd, window_bytes, true);
  CHECK(send_buffer_of(tcp_fd) >= tcp_bytes);
  CHECK(geteuid() != 0 || send_buffer_of(tcp_fd) >= (int)window_bytes);
  rd_tcp_tune_long_path(path_fds[0], window_bytes, true);
  CHECK(send_buffer_of(path_fds[0]) == path_bytes);
  transport->ops->limits(transport, &limits);
  CHECK(limits.send_buffer_ms == 0 && limits.receive_window_ms == 0 && limits.sent_again == 0);
  rd_transport_destroy(transport);
  for (int i = 0; i < 2; i++) close(path_fds[i]);
  close(tcp_fd);
  close(bare);
}

int main(void) {
  byte_by_byte();
  many_at_once();
  quiet();
  for (size_t part = 1; part < 1004; part += 9) armed_amid_a_message(part);
  armed_too_small();
  lengths();
  closed_amid_a_message();
  dial_reaches("127.0.0.1", "127.0.0.1", "127.0.0.1");
  dial_reaches(NULL, "127.0.0.1", "127.0.0.1");
  dial_reaches("", "127.0.0.1", "127.0.0.1");
  dial_reaches("192.0.2.1", "127.0.0.1", "127.0.0.1"); // not an address of this machine
  if (has_ipv6()) dial_reaches(NULL, "::1", "[::1]");
#ifndef RD_STATIC
  dial_reaches("127.0.0.1", "two.addresses", "127.0.0.1");
#endif
  a_refused_dial();
  impossible_dials();
  a_dial_of_a_path();
  ports();
  addresses();
  a_long_path();
  rd_connector_destroy(NULL);
  return test_end("tcp");
}
