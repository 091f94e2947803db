// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/long_path.h"

#include "base/sysfs.h"

#include <limits.h>
#include <linux/tcp.h> // <netinet/tcp.h> lacks members of tcp_info
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

// A frame that goes first, such as a PONG or ABORT, waits for what the kernel has taken and not yet sent.
#define UNSENT_MAX_BYTES (128 << 10)
#define US_A_MS 1000u
#define BBR "bbr"

// In bytes of the kernel's memory. A size that is set counts twice, because the kernel adds as much for its own use.
static struct {
  int64_t set_max;   // net.core.wmem_max
  int64_t grown_max; // net.ipv4.tcp_wmem: how far the kernel grows a buffer whose size was not set
} send_buffer;

void rd_tcp_read_socket_limits(void) {
  char text[128];
  long long grown_max;
  rd_sysfs_number(&send_buffer.set_max, "/proc/sys/net/core/wmem_max");
  if (rd_sysfs_line(text, sizeof text, "/proc/sys/net/ipv4/tcp_wmem") && sscanf(text, "%*d %*d %lld", &grown_max) == 1)
    send_buffer.grown_max = grown_max;
}

bool rd_tcp_limit_unsent(int socket_fd) {
  const int unsent_bytes = UNSENT_MAX_BYTES;
  return setsockopt(socket_fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes, sizeof unsent_bytes) == 0;
}

// The kernel no longer grows a buffer whose size was set: it is set only if that gains. Root may exceed the limit.
void rd_tcp_tune_long_path(int socket_fd, size_t window_bytes, bool congestion) {
  if (!rd_tcp_limit_unsent(socket_fd)) return; // not TCP
  // Others reduce their rate at each lost segment, also without congestion, and need many round trips to recover.
  if (congestion) (void)setsockopt(socket_fd, IPPROTO_TCP, TCP_CONGESTION, BBR, sizeof BBR - 1);
  int bytes = window_bytes < INT_MAX / 2 ? (int)window_bytes : INT_MAX / 2;
  if (send_buffer.grown_max == 0 || 2 * (int64_t)bytes <= send_buffer.grown_max) return;
  if (setsockopt(socket_fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) == 0) return;
  if (bytes > send_buffer.set_max) bytes = (int)send_buffer.set_max;
  if (2 * (int64_t)bytes > send_buffer.grown_max)
    (void)setsockopt(socket_fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
}

void rd_tcp_read_limits(int socket_fd, struct rd_limits *limits) {
  struct tcp_info info = {0}; // an older kernel fills in less
  socklen_t bytes = sizeof info;
  *limits = (struct rd_limits){0};
  if (getsockopt(socket_fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) < 0) return;
  *limits = (struct rd_limits){.send_buffer_ms = (int64_t)(info.tcpi_sndbuf_limited / US_A_MS),
                               .receive_window_ms = (int64_t)(info.tcpi_rwnd_limited / US_A_MS),
                               .sent_again = info.tcpi_total_retrans};
}
