// SPDX-License-Identifier: Apache-2.0
// TLS 1.3 of a server, with a key for each client (docs/protocol/serving.md, section 6.1).
#ifndef RD_CRYPTO_TLS_SERVICE_H
#define RD_CRYPTO_TLS_SERVICE_H

#include "base/outcome.h"
#include "crypto/handshake.h"

#define RD_CLIENT_NAME_BYTES 65u

struct rd_tls_client {
  char name[RD_CLIENT_NAME_BYTES]; // 1 to 64 letters, digits, '-' and '_'
  unsigned char psk[RD_KEY_BYTES]; // from rd_key_for_service()
};

struct rd_tls_service; // opaque

// `clients` must outlive the service. The caller keeps `socket_fd`, which must be non-blocking. Returns NULL on
// failure.
struct rd_tls_service *rd_tls_service_create(int socket_fd, const struct rd_tls_client *clients, size_t count,
                                             struct rd_error *error);
void rd_tls_service_destroy(struct rd_tls_service *service); // NULL-safe

// DONE: *client has authenticated with its key. An unknown name takes as long as a known one with a wrong key.
enum rd_outcome rd_tls_service_accept(struct rd_tls_service *service, const struct rd_tls_client **client,
                                      struct rd_error *error);
// After AGAIN from any call: returns the event of the socket that the call waits for, POLLIN or POLLOUT.
short rd_tls_service_wants(const struct rd_tls_service *service);
// DONE with *got 0: the client has ended its direction, or its connection.
enum rd_outcome rd_tls_service_read(struct rd_tls_service *service, void *bytes, size_t most, size_t *got);
// After AGAIN, call it again with the same bytes.
enum rd_outcome rd_tls_service_write(struct rd_tls_service *service, const void *bytes, size_t count, size_t *written);
// Returns true if there are received and decrypted bytes, which poll() does not report.
bool rd_tls_service_has_input(const struct rd_tls_service *service);
// Sends the end of this direction.
void rd_tls_service_end(struct rd_tls_service *service);

#endif
