// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/receive.h"

#include "base/bytes.h"
#include "transport/lanes.h"
#include "transport/tcp/send.h"
#include "wire/wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define HEAD_BYTES (RD_TCP_LENGTH_BYTES + RD_HEADER_BYTES) // the length is stored in the slot's headroom

static bool begin(struct rd_tcp_receive *receive, struct rd_tcp_incoming *incoming);
static unsigned char *head_of(const struct rd_tcp_receive *receive, const struct rd_tcp_incoming *incoming);
static uint32_t length_of(const struct rd_tcp_receive *receive);
static bool length_is_right(const struct rd_tcp_receive *receive, const char *peer, struct rd_error *error);
static size_t missing_bytes(const struct rd_tcp_receive *receive);
static ssize_t read_more(struct rd_tcp_receive *receive, int fd, bool *drained);
static ssize_t read_early(struct rd_tcp_receive *receive, int fd);
static ssize_t take_early(struct rd_tcp_receive *receive);
static void hand_over(struct rd_tcp_receive *receive, struct rd_message *message);
static enum rd_outcome explain_read(const struct rd_tcp_receive *receive, const char *peer, ssize_t got,
                                    struct rd_error *error);

bool rd_tcp_receive_use(struct rd_tcp_receive *receive, struct rd_slots *slots, struct rd_error *error) {
  struct rd_tcp_incoming *current = &receive->current;
  unsigned slot;
  if (receive->slots->free_count + (current->begun ? 1 : 0) != receive->slots->count) {
    rd_error_set(error, RD_CODE_INTERNAL, "a message is still in use while memory for data is set up");
    return false;
  }
  if (current->begun) {
    if (current->bytes > RD_TCP_LENGTH_BYTES + slots->message_bytes || !rd_slots_take(slots, &slot)) {
      rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent a message that is too long");
      return false;
    }
    memcpy(rd_slots_message(slots, slot) - RD_TCP_LENGTH_BYTES, head_of(receive, current), current->bytes);
    current->slot = slot;
  }
  receive->slots = slots;
  return true;
}

enum rd_outcome rd_tcp_receive_next(struct rd_tcp_receive *receive, int fd, const char *peer,
                                    struct rd_message *message, unsigned *number, struct rd_error *error) {
  bool drained = false;
  while (begin(receive, &receive->current)) {
    if (!length_is_right(receive, peer, error)) return RD_OUTCOME_FAILED;
    if (missing_bytes(receive) == 0) {
      *number = rd_get_u32(head_of(receive, &receive->current)) >> RD_MESSAGE_NUMBER_SHIFT;
      hand_over(receive, message);
      return RD_OUTCOME_DONE;
    }
    if (receive->early_bytes == 0 && (drained || receive->quiet)) break;
    ssize_t got = read_more(receive, fd, &drained);
    if (got <= 0) return explain_read(receive, peer, got, error);
  }
  receive->quiet = false;
  return RD_OUTCOME_AGAIN;
}

bool rd_tcp_receive_has_slot(const struct rd_tcp_receive *receive) {
  return receive->current.begun || receive->slots->free_count > 0;
}

bool rd_tcp_receive_has_early(const struct rd_tcp_receive *receive) {
  return receive->early_bytes > 0 && rd_tcp_receive_has_slot(receive);
}

void rd_tcp_explain_end(const char *peer, struct rd_error *error) {
  bool closed = errno == ECONNRESET || errno == EPIPE;
  rd_error_set_errno(error, closed ? RD_CODE_PEER_CLOSED : RD_CODE_PEER_LOST, "the connection to %s ended", peer);
}

// Takes a slot for the message, unless it has one.
static bool begin(struct rd_tcp_receive *receive, struct rd_tcp_incoming *incoming) {
  if (!incoming->begun) {
    incoming->begun = rd_slots_take(receive->slots, &incoming->slot);
    incoming->bytes = 0;
  }
  return incoming->begun;
}

static unsigned char *head_of(const struct rd_tcp_receive *receive, const struct rd_tcp_incoming *incoming) {
  return rd_slots_message(receive->slots, incoming->slot) - RD_TCP_LENGTH_BYTES;
}

static uint32_t length_of(const struct rd_tcp_receive *receive) {
  uint32_t word = rd_get_u32(head_of(receive, &receive->current));
  return receive->is_numbered ? word & RD_MESSAGE_LENGTH_MASK : word;
}

static bool length_is_right(const struct rd_tcp_receive *receive, const char *peer, struct rd_error *error) {
  if (receive->current.bytes < RD_TCP_LENGTH_BYTES) return true;
  uint32_t length = length_of(receive);
  if (length >= RD_HEADER_BYTES && length <= receive->slots->message_bytes) return true;
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "%s sent a message of %u bytes (%u to %zu are allowed)", peer, length,
               RD_HEADER_BYTES, receive->slots->message_bytes);
  return false;
}

// Returns how many bytes the current message lacks; how many its head lacks while the length is unknown.
static size_t missing_bytes(const struct rd_tcp_receive *receive) {
  size_t bytes = receive->current.bytes;
  if (bytes < HEAD_BYTES) return HEAD_BYTES - bytes;
  return RD_TCP_LENGTH_BYTES + length_of(receive) - bytes;
}

// Reads the missing bytes and, if a slot is free, the next message's head as well: so a long message needs no separate
// call for its head. Sets *drained if fewer bytes came than were requested, so that no more are there now.
static ssize_t read_more(struct rd_tcp_receive *receive, int fd, bool *drained) {
  struct rd_tcp_incoming *current = &receive->current, *next = &receive->next;
  if (receive->early_bytes > 0 || current->bytes < HEAD_BYTES) return read_early(receive, fd);
  size_t missing = missing_bytes(receive), wanted = missing;
  struct iovec parts[2] = {{head_of(receive, current) + current->bytes, missing}};
  struct msghdr both = {.msg_iov = parts, .msg_iovlen = 1};
  if (begin(receive, next)) {
    parts[both.msg_iovlen++] = (struct iovec){head_of(receive, next), HEAD_BYTES};
    wanted += HEAD_BYTES;
  }
  ssize_t got = recvmsg(fd, &both, MSG_DONTWAIT);
  if (got <= 0) return got;
  size_t of_current = (size_t)got < missing ? (size_t)got : missing;
  current->bytes += of_current;
  next->bytes = (size_t)got - of_current;
  *drained = (size_t)got < wanted;
  return got;
}

static ssize_t read_early(struct rd_tcp_receive *receive, int fd) {
  if (receive->early_bytes > 0) return take_early(receive);
  ssize_t got = recv(fd, receive->early, RD_TCP_EARLY_BYTES, MSG_DONTWAIT);
  if (got <= 0) return got;
  receive->early_at = 0;
  receive->early_bytes = (size_t)got;
  receive->quiet = got < RD_TCP_EARLY_BYTES;
  return take_early(receive);
}

static ssize_t take_early(struct rd_tcp_receive *receive) {
  struct rd_tcp_incoming *current = &receive->current;
  size_t missing = missing_bytes(receive), count = receive->early_bytes < missing ? receive->early_bytes : missing;
  memcpy(head_of(receive, current) + current->bytes, receive->early + receive->early_at, count);
  current->bytes += count;
  receive->early_at += count;
  receive->early_bytes -= count;
  return (ssize_t)count;
}

static void hand_over(struct rd_tcp_receive *receive, struct rd_message *message) {
  message->slot = receive->current.slot;
  message->bytes = receive->current.bytes - RD_TCP_LENGTH_BYTES;
  message->data = rd_slots_message(receive->slots, receive->current.slot);
  receive->current = receive->next;
  receive->next = (struct rd_tcp_incoming){0};
}

static enum rd_outcome explain_read(const struct rd_tcp_receive *receive, const char *peer, ssize_t got,
                                    struct rd_error *error) {
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return RD_OUTCOME_AGAIN;
  if (got < 0)
    rd_tcp_explain_end(peer, error);
  else
    rd_error_set(error, RD_CODE_PEER_CLOSED, "%s closed the connection%s", peer,
                 receive->current.bytes > 0 ? " in the middle of a message" : "");
  return RD_OUTCOME_FAILED;
}
