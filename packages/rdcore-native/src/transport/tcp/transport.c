// SPDX-License-Identifier: Apache-2.0
// Messages over a connected stream socket: 4 bytes of length, little-endian, then the message.
#include "transport/transport.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "transport/address.h"
#include "transport/tcp/connector.h"
#include "wire/slots.h"
#include "wire/wire.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

enum {
  LENGTH_BYTES = 4, // in a slot's headroom
  HEAD_BYTES = LENGTH_BYTES + RD_HEADER_BYTES,
  PARTS_MAX = 4,
  QUEUE_MAX = 16,
  EARLY_BYTES = 4096,
};

struct outgoing {
  unsigned char length[LENGTH_BYTES];
  struct iovec parts[1 + PARTS_MAX]; // what is still to be sent; the first is the length
  int count;
};

struct incoming {
  bool begun; // it has a slot
  unsigned slot;
  size_t bytes; // of its length and itself that are there
};

struct tcp {
  struct rd_transport base;
  int fd;
  struct rd_slots slots;
  struct incoming current;
  struct incoming next; // its head is read together with the end of the current one
  // Bytes that were read before their message's length was known: one call reads many small messages.
  unsigned char early[EARLY_BYTES];
  size_t early_at, early_bytes; // not yet copied into a slot
  bool quiet;                   // no more bytes are there, until receive() gives AGAIN
  struct outgoing queue[QUEUE_MAX];
  unsigned queue_first;
  unsigned queue_count;
  uint64_t released;
  char local[RD_SOCKET_ADDRESS_TEXT_BYTES];
  char peer[RD_SOCKET_ADDRESS_TEXT_BYTES];
};

static bool tcp_arm(struct rd_transport *transport, unsigned slots, size_t payload_bytes, struct rd_error *error);
static size_t tcp_memory_most_bytes(const struct rd_transport *transport);
static bool tcp_register(struct rd_transport *transport, const void *memory, size_t bytes, struct rd_error *error);
static int tcp_poll_fd(const struct rd_transport *transport);
static short tcp_poll_events(const struct rd_transport *transport);
static enum rd_outcome tcp_send(struct rd_transport *transport, const struct iovec *parts, int count,
                                struct rd_error *error);
static bool tcp_flush(struct rd_transport *transport, struct rd_error *error);
static uint64_t tcp_released(const struct rd_transport *transport);
static void tcp_expect_releases(struct rd_transport *transport, bool expected);
static void tcp_quiet(struct rd_transport *transport);
static enum rd_outcome tcp_receive(struct rd_transport *transport, struct rd_message *message, struct rd_error *error);
static void tcp_give_back(struct rd_transport *transport, const struct rd_message *message);
static int64_t tcp_silent_ms(const struct rd_transport *transport);
static void tcp_disconnect(struct rd_transport *transport);
static const char *tcp_local_name(const struct rd_transport *transport);
static const char *tcp_peer_name(const struct rd_transport *transport);
static const char *tcp_device_name(const struct rd_transport *transport);
static void tcp_destroy(struct rd_transport *transport);

static struct tcp *tcp_of(const struct rd_transport *transport);
static void set_names(struct tcp *tcp);
static void tune_socket(int fd);
static bool keep_begun_message(const struct tcp *tcp, struct rd_slots *slots, struct rd_error *error);
static size_t gather(const struct tcp *tcp, struct msghdr *all);
static void forget_sent(struct tcp *tcp, size_t bytes);
static bool begin(struct tcp *tcp, struct incoming *incoming);
static unsigned char *head_of(const struct tcp *tcp, const struct incoming *incoming);
static bool length_is_right(const struct tcp *tcp, struct rd_error *error);
static size_t missing_bytes(const struct tcp *tcp);
static ssize_t read_more(struct tcp *tcp, bool *drained);
static ssize_t read_early(struct tcp *tcp);
static ssize_t take_early(struct tcp *tcp);
static void hand_over(struct tcp *tcp, struct rd_message *message);
static void explain_end(const struct tcp *tcp, struct rd_error *error);
static enum rd_outcome explain_read(const struct tcp *tcp, ssize_t got, struct rd_error *error);

static const struct rd_transport_ops tcp_ops = {
    .name = "tcp",
    .is_stream = true,
    .arm = tcp_arm,
    .memory_most_bytes = tcp_memory_most_bytes,
    .register_memory = tcp_register,
    .poll_fd = tcp_poll_fd,
    .poll_events = tcp_poll_events,
    .send = tcp_send,
    .flush = tcp_flush,
    .released = tcp_released,
    .expect_releases = tcp_expect_releases,
    .quiet = tcp_quiet,
    .receive = tcp_receive,
    .give_back = tcp_give_back,
    .silent_ms = tcp_silent_ms,
    .disconnect = tcp_disconnect,
    .local_name = tcp_local_name,
    .peer_name = tcp_peer_name,
    .device_name = tcp_device_name,
    .destroy = tcp_destroy,
};

struct rd_transport *rd_tcp_adopt(int fd, struct rd_error *error) {
  RD_AUTO_CLOSE int owned = fd;
  struct tcp *tcp = rd_memory_new(1, sizeof *tcp);
  if (!rd_slots_create_early(&tcp->slots, error)) {
    free(tcp);
    return NULL;
  }
  tcp->base.ops = &tcp_ops;
  tcp->fd = rd_take_fd(&owned);
  set_names(tcp);
  tune_socket(tcp->fd);
  return &tcp->base;
}

static void set_names(struct tcp *tcp) {
  struct rd_socket_address local = {.bytes = sizeof local.address}, peer = {.bytes = sizeof peer.address};
  if (getsockname(tcp->fd, (struct sockaddr *)&local.address, &local.bytes) < 0) local.bytes = 0;
  if (getpeername(tcp->fd, (struct sockaddr *)&peer.address, &peer.bytes) < 0) peer.bytes = 0;
  rd_socket_address_text(&local, tcp->local);
  rd_socket_address_text(&peer, tcp->peer);
}

// Each of these may be refused (a Unix socket has none of them); the connection works without. The keepalive of frames
// decides how long a peer may be silent; the kernel's only notices a host that is gone for good.
static void tune_socket(int fd) {
  const int on = 1, idle_s = 30, interval_s = 10, probes = 6;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

static bool tcp_arm(struct rd_transport *transport, unsigned slots, size_t payload_bytes, struct rd_error *error) {
  struct tcp *tcp = tcp_of(transport);
  struct rd_slots armed;
  if (tcp->slots.free_count + (tcp->current.begun ? 1 : 0) != tcp->slots.count) {
    rd_error_set(error, RD_CODE_INTERNAL, "a message is still in use while memory for data is set up");
    return false;
  }
  if (!rd_slots_create(&armed, slots, payload_bytes, error)) return false;
  if (tcp->current.begun && !keep_begun_message(tcp, &armed, error)) {
    rd_slots_free(&armed);
    return false;
  }
  rd_slots_free(&tcp->slots);
  tcp->slots = armed;
  if (tcp->current.begun) (void)rd_slots_take(&tcp->slots, &tcp->current.slot);
  return true;
}

// The part that was received of the next message moves to the slot that is taken first.
static bool keep_begun_message(const struct tcp *tcp, struct rd_slots *slots, struct rd_error *error) {
  struct tcp armed = {.slots = *slots};
  if (tcp->current.bytes > LENGTH_BYTES + slots->message_bytes) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent a message that is too long");
    return false;
  }
  memcpy(head_of(&armed, &(struct incoming){.slot = 0}), head_of(tcp, &tcp->current), tcp->current.bytes);
  return true;
}

static size_t tcp_memory_most_bytes(const struct rd_transport *transport) {
  (void)transport;
  return SIZE_MAX;
}

static bool tcp_register(struct rd_transport *transport, const void *memory, size_t bytes, struct rd_error *error) {
  (void)transport, (void)memory, (void)bytes, (void)error;
  return true;
}

static int tcp_poll_fd(const struct rd_transport *transport) {
  return tcp_of(transport)->fd;
}

static short tcp_poll_events(const struct rd_transport *transport) {
  const struct tcp *tcp = tcp_of(transport);
  bool has_slot = tcp->current.begun || tcp->slots.free_count > 0;
  bool has_early = has_slot && tcp->early_bytes > 0; // already read: the socket is not readable for it
  return (short)((has_slot ? POLLIN : 0) | (has_early || tcp->queue_count > 0 ? POLLOUT : 0));
}

static enum rd_outcome tcp_send(struct rd_transport *transport, const struct iovec *parts, int count,
                                struct rd_error *error) {
  struct tcp *tcp = tcp_of(transport);
  if (tcp->queue_count == QUEUE_MAX) return RD_OUTCOME_AGAIN;
  struct outgoing *next = &tcp->queue[(tcp->queue_first + tcp->queue_count) % QUEUE_MAX];
  size_t bytes = 0;
  for (int i = 0; i < count && i < PARTS_MAX; i++) {
    next->parts[1 + i] = parts[i];
    bytes += parts[i].iov_len;
  }
  if (count > PARTS_MAX || bytes < RD_HEADER_BYTES || bytes > UINT32_MAX) {
    rd_error_set(error, RD_CODE_INTERNAL, "cannot send a message of %d parts and %zu bytes", count, bytes);
    return RD_OUTCOME_FAILED;
  }
  rd_put_u32(next->length, (uint32_t)bytes);
  next->parts[0] = (struct iovec){next->length, LENGTH_BYTES};
  next->count = 1 + count;
  tcp->queue_count++;
  return RD_OUTCOME_DONE;
}

static bool tcp_flush(struct rd_transport *transport, struct rd_error *error) {
  struct tcp *tcp = tcp_of(transport);
  while (tcp->queue_count > 0) {
    struct iovec parts[QUEUE_MAX * (1 + PARTS_MAX)];
    struct msghdr all = {.msg_iov = parts};
    size_t waiting = gather(tcp, &all);
    ssize_t sent = sendmsg(tcp->fd, &all, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return true;
    if (sent < 0) {
      explain_end(tcp, error);
      return false;
    }
    forget_sent(tcp, (size_t)sent);
    if ((size_t)sent < waiting) return true; // the socket is full
  }
  return true;
}

// By errno: the peer closed or reset the connection, or does not answer.
static void explain_end(const struct tcp *tcp, struct rd_error *error) {
  bool closed = errno == ECONNRESET || errno == EPIPE;
  rd_error_set_errno(error, closed ? RD_CODE_PEER_CLOSED : RD_CODE_PEER_LOST, "the connection to %s ended", tcp->peer);
}

// Everything that waits, as one list; returns its bytes.
static size_t gather(const struct tcp *tcp, struct msghdr *all) {
  size_t bytes = 0;
  for (unsigned i = 0; i < tcp->queue_count; i++) {
    const struct outgoing *next = &tcp->queue[(tcp->queue_first + i) % QUEUE_MAX];
    for (int part = 0; part < next->count; part++) {
      if (next->parts[part].iov_len == 0) continue;
      all->msg_iov[all->msg_iovlen++] = next->parts[part];
      bytes += next->parts[part].iov_len;
    }
  }
  return bytes;
}

// Removes `bytes`, which the kernel has copied, from the front of the queue.
static void forget_sent(struct tcp *tcp, size_t bytes) {
  while (tcp->queue_count > 0) {
    struct outgoing *first = &tcp->queue[tcp->queue_first];
    for (int part = 0; part < first->count; part++) {
      struct iovec *rest = &first->parts[part];
      size_t taken = bytes < rest->iov_len ? bytes : rest->iov_len;
      rest->iov_base = (unsigned char *)rest->iov_base + taken;
      rest->iov_len -= taken;
      bytes -= taken;
      if (rest->iov_len > 0) return;
    }
    tcp->queue_first = (tcp->queue_first + 1) % QUEUE_MAX;
    tcp->queue_count--;
    tcp->released++;
  }
}

static uint64_t tcp_released(const struct rd_transport *transport) {
  return tcp_of(transport)->released;
}

// Unreleased messages wait for room in the socket, for which the descriptor is polled anyway.
static void tcp_expect_releases(struct rd_transport *transport, bool expected) {
  (void)transport, (void)expected;
}

static void tcp_quiet(struct rd_transport *transport) {
  tcp_of(transport)->quiet = true;
}

static enum rd_outcome tcp_receive(struct rd_transport *transport, struct rd_message *message, struct rd_error *error) {
  struct tcp *tcp = tcp_of(transport);
  bool drained = false;
  while (begin(tcp, &tcp->current)) {
    if (!length_is_right(tcp, error)) return RD_OUTCOME_FAILED;
    if (missing_bytes(tcp) == 0) {
      hand_over(tcp, message);
      return RD_OUTCOME_DONE;
    }
    if (tcp->early_bytes == 0 && (drained || tcp->quiet)) break;
    ssize_t got = read_more(tcp, &drained);
    if (got <= 0) return explain_read(tcp, got, error);
  }
  tcp->quiet = false;
  return RD_OUTCOME_AGAIN;
}

// Takes a slot for the message, unless it has one.
static bool begin(struct tcp *tcp, struct incoming *incoming) {
  if (!incoming->begun) {
    incoming->begun = rd_slots_take(&tcp->slots, &incoming->slot);
    incoming->bytes = 0;
  }
  return incoming->begun;
}

static unsigned char *head_of(const struct tcp *tcp, const struct incoming *incoming) {
  return rd_slots_message(&tcp->slots, incoming->slot) - LENGTH_BYTES;
}

static bool length_is_right(const struct tcp *tcp, struct rd_error *error) {
  if (tcp->current.bytes < LENGTH_BYTES) return true;
  uint32_t length = rd_get_u32(head_of(tcp, &tcp->current));
  if (length >= RD_HEADER_BYTES && length <= tcp->slots.message_bytes) return true;
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "%s sent a message of %u bytes where %u to %zu are allowed", tcp->peer,
               length, RD_HEADER_BYTES, tcp->slots.message_bytes);
  return false;
}

// Of the head, until the length is known.
static size_t missing_bytes(const struct tcp *tcp) {
  size_t bytes = tcp->current.bytes;
  if (bytes < HEAD_BYTES) return HEAD_BYTES - bytes;
  return LENGTH_BYTES + rd_get_u32(head_of(tcp, &tcp->current)) - bytes;
}

// Reads the missing bytes and, where a slot is free, the next message's head with them: a long message then needs no
// call of its own for its head. *drained: fewer bytes came than were asked for, so no more are there now.
static ssize_t read_more(struct tcp *tcp, bool *drained) {
  struct incoming *current = &tcp->current, *next = &tcp->next;
  if (tcp->early_bytes > 0 || current->bytes < HEAD_BYTES) return read_early(tcp);
  size_t missing = missing_bytes(tcp), wanted = missing;
  struct iovec parts[2] = {{head_of(tcp, current) + current->bytes, missing}};
  struct msghdr both = {.msg_iov = parts, .msg_iovlen = 1};
  if (begin(tcp, next)) {
    parts[both.msg_iovlen++] = (struct iovec){head_of(tcp, next), HEAD_BYTES};
    wanted += HEAD_BYTES;
  }
  ssize_t got = recvmsg(tcp->fd, &both, MSG_DONTWAIT);
  if (got <= 0) return got;
  size_t of_current = (size_t)got < missing ? (size_t)got : missing;
  current->bytes += of_current;
  next->bytes = (size_t)got - of_current;
  *drained = (size_t)got < wanted;
  return got;
}

static ssize_t read_early(struct tcp *tcp) {
  if (tcp->early_bytes > 0) return take_early(tcp);
  ssize_t got = recv(tcp->fd, tcp->early, EARLY_BYTES, MSG_DONTWAIT);
  if (got <= 0) return got;
  tcp->early_at = 0;
  tcp->early_bytes = (size_t)got;
  tcp->quiet = got < EARLY_BYTES;
  return take_early(tcp);
}

static ssize_t take_early(struct tcp *tcp) {
  struct incoming *current = &tcp->current;
  size_t missing = missing_bytes(tcp), count = tcp->early_bytes < missing ? tcp->early_bytes : missing;
  memcpy(head_of(tcp, current) + current->bytes, tcp->early + tcp->early_at, count);
  current->bytes += count;
  tcp->early_at += count;
  tcp->early_bytes -= count;
  return (ssize_t)count;
}

static void hand_over(struct tcp *tcp, struct rd_message *message) {
  message->slot = tcp->current.slot;
  message->bytes = tcp->current.bytes - LENGTH_BYTES;
  message->data = rd_slots_message(&tcp->slots, tcp->current.slot);
  tcp->current = tcp->next;
  tcp->next = (struct incoming){0};
}

static enum rd_outcome explain_read(const struct tcp *tcp, ssize_t got, struct rd_error *error) {
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return RD_OUTCOME_AGAIN;
  if (got < 0)
    explain_end(tcp, error);
  else
    rd_error_set(error, RD_CODE_PEER_CLOSED, "%s closed the connection%s", tcp->peer,
                 tcp->current.bytes > 0 ? " in the middle of a message" : "");
  return RD_OUTCOME_FAILED;
}

static void tcp_give_back(struct rd_transport *transport, const struct rd_message *message) {
  rd_slots_give(&tcp_of(transport)->slots, message->slot);
}

static int64_t tcp_silent_ms(const struct rd_transport *transport) {
  struct tcp_info info;
  socklen_t bytes = sizeof info;
  bool known = getsockopt(tcp_of(transport)->fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0;
  return known ? (int64_t)info.tcpi_last_data_recv : INT64_MAX;
}

static void tcp_disconnect(struct rd_transport *transport) {
  rd_cleanup_fd(&tcp_of(transport)->fd);
}

static const char *tcp_local_name(const struct rd_transport *transport) {
  return tcp_of(transport)->local;
}

static const char *tcp_peer_name(const struct rd_transport *transport) {
  return tcp_of(transport)->peer;
}

static const char *tcp_device_name(const struct rd_transport *transport) {
  (void)transport;
  return NULL;
}

static void tcp_destroy(struct rd_transport *transport) {
  struct tcp *tcp = tcp_of(transport);
  rd_cleanup_fd(&tcp->fd);
  rd_slots_free(&tcp->slots);
  free(tcp);
}

static struct tcp *tcp_of(const struct rd_transport *transport) {
  return (struct tcp *)(uintptr_t)transport;
}
