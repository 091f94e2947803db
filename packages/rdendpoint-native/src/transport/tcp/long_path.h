// SPDX-License-Identifier: Apache-2.0
// A TCP socket whose round trip takes long: its buffers, and what limits its rate.
#ifndef RD_TCP_LONG_PATH_H
#define RD_TCP_LONG_PATH_H

#include "transport/transport.h"

// Reads the limits of this machine's sockets, for rd_tcp_tune_long_path(). Call it before the sandbox, which hides
// them.
void rd_tcp_read_socket_limits(void);

// Limits what the kernel takes without having sent it. Returns false for other sockets.
bool rd_tcp_limit_unsent(int socket_fd);
// Lets the socket keep `window_bytes` in flight, as far as the kernel allows it, and with `congestion` use BBR if the
// kernel has it and lets this user choose it. Does nothing to other sockets.
void rd_tcp_tune_long_path(int socket_fd, size_t window_bytes, bool congestion);

// Asks the kernel what has limited the rate so far. All zero for other sockets.
void rd_tcp_read_limits(int socket_fd, struct rd_limits *limits);

#endif
