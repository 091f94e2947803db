// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/send.h"

#include "base/bytes.h"
#include "transport/lanes.h"
#include "wire/wire.h"

#include <errno.h>
#include <sys/socket.h>

static size_t gather(const struct rd_tcp_send *send, struct msghdr *all);
static void forget_sent(struct rd_tcp_send *send, size_t bytes, struct rd_release_count *released);

enum rd_outcome rd_tcp_send_accept(struct rd_tcp_send *send, const struct iovec *parts, int count, uint64_t index,
                                   unsigned number, struct rd_error *error) {
  if (send->queue_count == RD_TCP_SEND_QUEUE_MAX) return RD_OUTCOME_AGAIN;
  struct rd_tcp_send_message *next = &send->queue[(send->queue_first + send->queue_count) % RD_TCP_SEND_QUEUE_MAX];
  size_t bytes = 0;
  for (int i = 0; i < count && i < RD_TCP_SEND_PARTS_MAX; i++) {
    next->parts[1 + i] = parts[i];
    bytes += parts[i].iov_len;
  }
  if (count > RD_TCP_SEND_PARTS_MAX || bytes < RD_HEADER_BYTES || bytes > RD_MESSAGE_LENGTH_MASK) {
    rd_error_set(error, RD_CODE_INTERNAL, "cannot send a message of %d parts and %zu bytes", count, bytes);
    return RD_OUTCOME_FAILED;
  }
  rd_put_u32(next->length, (uint32_t)bytes | number << RD_MESSAGE_NUMBER_SHIFT);
  next->index = index;
  next->parts[0] = (struct iovec){next->length, RD_TCP_LENGTH_BYTES};
  next->count = 1 + count;
  send->queue_count++;
  return RD_OUTCOME_DONE;
}

bool rd_tcp_send_flush(struct rd_tcp_send *send, int fd, struct rd_release_count *released) {
  while (send->queue_count > 0) {
    struct iovec parts[RD_TCP_SEND_QUEUE_MAX * (1 + RD_TCP_SEND_PARTS_MAX)];
    struct msghdr all = {.msg_iov = parts};
    size_t waiting = gather(send, &all);
    ssize_t sent = sendmsg(fd, &all, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN;
    forget_sent(send, (size_t)sent, released);
    if ((size_t)sent < waiting) return true; // the socket is full
  }
  return true;
}

// Collects everything that waits in one list; returns its length in bytes.
static size_t gather(const struct rd_tcp_send *send, struct msghdr *all) {
  size_t bytes = 0;
  for (unsigned i = 0; i < send->queue_count; i++) {
    const struct rd_tcp_send_message *next = &send->queue[(send->queue_first + i) % RD_TCP_SEND_QUEUE_MAX];
    for (int part = 0; part < next->count; part++) {
      if (next->parts[part].iov_len == 0) continue;
      all->msg_iov[all->msg_iovlen++] = next->parts[part];
      bytes += next->parts[part].iov_len;
    }
  }
  return bytes;
}

// Removes `bytes`, which the kernel has copied, from the front of the queue.
static void forget_sent(struct rd_tcp_send *send, size_t bytes, struct rd_release_count *released) {
  while (send->queue_count > 0) {
    struct rd_tcp_send_message *first = &send->queue[send->queue_first];
    for (int part = 0; part < first->count; part++) {
      struct iovec *rest = &first->parts[part];
      size_t taken = bytes < rest->iov_len ? bytes : rest->iov_len;
      rest->iov_base = (unsigned char *)rest->iov_base + taken;
      rest->iov_len -= taken;
      bytes -= taken;
      if (rest->iov_len > 0) return;
    }
    send->queue_first = (send->queue_first + 1) % RD_TCP_SEND_QUEUE_MAX;
    send->queue_count--;
    rd_release_count_add(released, first->index);
  }
}
