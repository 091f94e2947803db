// SPDX-License-Identifier: Apache-2.0
// TLS 1.3 of a server over a socket: each client proves a key of its own (protocol.md, section 6.1)
#ifndef RD_CRYPTO_TLS_SERVICE_H
#define RD_CRYPTO_TLS_SERVICE_H

#include "base/outcome.h"
#include "crypto/handshake.h"

#define RD_CLIENT_NAME_BYTES 65u

struct rd_tls_client {
  char name[RD_CLIENT_NAME_BYTES]; // 1 to 64 letters, digits, '-' and '_'
  unsigned char psk[RD_KEY_BYTES]; // of rd_key_for_service()
};

struct rd_tls_service; // opaque

// The clients must stay as long as it. It does not own `socket_fd`, which never blocks. NULL on failure.
struct rd_tls_service *rd_tls_service_create(int socket_fd, const struct rd_tls_client *clients, size_t count,
                                             struct rd_error *error);
void rd_tls_service_destroy(struct rd_tls_service *service); // NULL-safe

// DONE: *client is the one that proved its key. An unknown name takes as long as a known one with another key.
enum rd_outcome rd_tls_service_accept(struct rd_tls_service *service, const struct rd_tls_client **client,
                                      struct rd_error *error);
// After AGAIN of any call: POLLIN or POLLOUT of the socket, whichever that call waits for.
short rd_tls_service_wants(const struct rd_tls_service *service);
// DONE with *got 0: the client has ended its direction, or its connection.
enum rd_outcome rd_tls_service_read(struct rd_tls_service *service, void *bytes, size_t most, size_t *got);
// After AGAIN it must be called again with the same bytes.
enum rd_outcome rd_tls_service_write(struct rd_tls_service *service, const void *bytes, size_t count, size_t *written);
// Bytes that were received and decrypted, which poll() does not show.
bool rd_tls_service_has_input(const struct rd_tls_service *service);
// Sends the end of this direction.
void rd_tls_service_end(struct rd_tls_service *service);

#endif
