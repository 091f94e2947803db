// SPDX-License-Identifier: Apache-2.0
#include "serve/tls_service.h"

#include "base/memory.h"
#include "crypto/tls.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

static const char identity_prefix[] = "rdpipe-serve/1 ";
// PSKs of node belong to SHA-256. ChaCha20 is the only ciphersuite of SHA-256 with 256-bit keys.
static const char ciphersuites[] = "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256";
static const unsigned char psk_ciphersuite_id[2] = {0x13, 0x01};

struct rd_tls_service {
  SSL_CTX *context;
  SSL *tls;
  const struct rd_tls_client *clients;
  size_t count;
  unsigned char random_psk[RD_KEY_BYTES];
  const struct rd_tls_client *named;
  short wants;
};

static SSL_CTX *create_context(void);
static int find_key(SSL *tls, const unsigned char *identity, size_t identity_bytes, SSL_SESSION **session);
static SSL_SESSION *make_session(SSL *tls, const unsigned char psk[RD_KEY_BYTES]);
static enum rd_outcome outcome_of(struct rd_tls_service *service, int result);

struct rd_tls_service *rd_tls_service_create(int socket_fd, const struct rd_tls_client *clients, size_t count,
                                             struct rd_error *error) {
  struct rd_tls_service *service = rd_memory_new(1, sizeof *service);
  *service = (struct rd_tls_service){.clients = clients, .count = count, .context = create_context()};
  service->tls = service->context != NULL ? SSL_new(service->context) : NULL;
  if (service->tls != NULL && RAND_bytes(service->random_psk, RD_KEY_BYTES) == 1 &&
      SSL_set_fd(service->tls, socket_fd) == 1) {
    SSL_set_app_data(service->tls, service);
    SSL_set_accept_state(service->tls);
    return service;
  }
  rd_tls_service_destroy(service);
  rd_error_set(error, RD_CODE_INTERNAL, "cannot set up TLS 1.3");
  return NULL;
}

void rd_tls_service_destroy(struct rd_tls_service *service) {
  if (service == NULL) return;
  SSL_free(service->tls);
  SSL_CTX_free(service->context);
  OPENSSL_cleanse(service, sizeof *service);
  free(service);
}

enum rd_outcome rd_tls_service_accept(struct rd_tls_service *service, const struct rd_tls_client **client,
                                      struct rd_error *error) {
  ERR_clear_error();
  int result = SSL_accept(service->tls);
  if (result == 1 && service->named != NULL && SSL_session_reused(service->tls) == 1) {
    *client = service->named;
    return RD_OUTCOME_DONE;
  }
  if (result != 1 && outcome_of(service, result) == RD_OUTCOME_AGAIN) return RD_OUTCOME_AGAIN;
  bool has_key =
      SSL_session_reused(service->tls) == 1 || ERR_GET_REASON(ERR_peek_error()) == SSL_R_BINDER_DOES_NOT_VERIFY;
  rd_error_set(error, has_key ? RD_CODE_KEY_REFUSED : RD_CODE_DATA_DAMAGED,
               has_key ? "wrong key" : "it does not speak this protocol");
  return RD_OUTCOME_FAILED;
}

short rd_tls_service_wants(const struct rd_tls_service *service) {
  return service->wants;
}

enum rd_outcome rd_tls_service_read(struct rd_tls_service *service, void *bytes, size_t most, size_t *got) {
  *got = 0;
  ERR_clear_error();
  int result = SSL_read_ex(service->tls, bytes, most, got);
  if (result == 1) return RD_OUTCOME_DONE;
  if (SSL_get_error(service->tls, result) == SSL_ERROR_ZERO_RETURN) return RD_OUTCOME_DONE;
  return outcome_of(service, result);
}

enum rd_outcome rd_tls_service_write(struct rd_tls_service *service, const void *bytes, size_t count, size_t *written) {
  *written = 0;
  ERR_clear_error();
  int result = SSL_write_ex(service->tls, bytes, count, written);
  return result == 1 ? RD_OUTCOME_DONE : outcome_of(service, result);
}

bool rd_tls_service_has_input(const struct rd_tls_service *service) {
  return SSL_pending(service->tls) > 0;
}

void rd_tls_service_end(struct rd_tls_service *service) {
  SSL_shutdown(service->tls);
}

static SSL_CTX *create_context(void) {
  SSL_CTX *made = rd_tls_init_library() ? SSL_CTX_new(TLS_server_method()) : NULL;
  if (made == NULL) return NULL;
  if (SSL_CTX_set_min_proto_version(made, TLS1_3_VERSION) != 1 || SSL_CTX_set_num_tickets(made, 0) != 1 ||
      SSL_CTX_set_ciphersuites(made, ciphersuites) != 1 || SSL_CTX_set1_groups_list(made, "X25519:P-256") != 1) {
    SSL_CTX_free(made);
    return NULL;
  }
  SSL_CTX_set_options(made, SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(made, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_psk_find_session_callback(made, find_key);
  return made;
}

// An unknown name gets a random key: its binder is checked and refused like that of a known name.
static int find_key(SSL *tls, const unsigned char *identity, size_t identity_bytes, SSL_SESSION **session) {
  struct rd_tls_service *service = SSL_get_app_data(tls);
  const unsigned char *psk = service->random_psk;
  service->named = NULL;
  for (size_t i = 0; i < service->count; i++) {
    char known[sizeof identity_prefix + RD_CLIENT_NAME_BYTES] = "";
    int bytes = snprintf(known, sizeof known, "%s%s", identity_prefix, service->clients[i].name);
    if (identity_bytes != (size_t)bytes || CRYPTO_memcmp(identity, known, identity_bytes) != 0) continue;
    service->named = &service->clients[i];
    psk = service->clients[i].psk;
  }
  *session = make_session(tls, psk);
  return *session != NULL;
}

static SSL_SESSION *make_session(SSL *tls, const unsigned char psk[RD_KEY_BYTES]) {
  const SSL_CIPHER *cipher = SSL_CIPHER_find(tls, psk_ciphersuite_id);
  SSL_SESSION *session = SSL_SESSION_new();
  if (session != NULL && cipher != NULL && SSL_SESSION_set1_master_key(session, psk, RD_KEY_BYTES) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
    return session;
  SSL_SESSION_free(session);
  return NULL;
}

static enum rd_outcome outcome_of(struct rd_tls_service *service, int result) {
  int why = SSL_get_error(service->tls, result);
  if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) return RD_OUTCOME_FAILED;
  service->wants = why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
  return RD_OUTCOME_AGAIN;
}
