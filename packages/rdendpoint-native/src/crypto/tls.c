// SPDX-License-Identifier: Apache-2.0
#include "crypto/tls.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

static const char ciphersuite[] = "TLS_AES_256_GCM_SHA384";
static const unsigned char ciphersuite_id[2] = {0x13, 0x02};

static SSL_CTX *context; // of this process, created once

static SSL_CTX *shared_context(void);
static void create_context(void);
static int offer_key(SSL *tls, const EVP_MD *digest, const unsigned char **identity, size_t *identity_bytes,
                     SSL_SESSION **session);
static int find_key(SSL *tls, const unsigned char *identity, size_t identity_bytes, SSL_SESSION **session);
static bool is_named(const char *name, const unsigned char *identity, size_t identity_bytes);
static SSL_SESSION *make_session(SSL *tls, const struct rd_tls_psk *psk);

SSL *rd_tls_create(struct rd_tls_psk *psk, bool is_dialer, BIO **incoming, BIO **outgoing) {
  SSL_CTX *shared = shared_context();
  SSL *tls = shared != NULL ? SSL_new(shared) : NULL;
  if (tls == NULL) return NULL;
  *incoming = BIO_new(BIO_s_mem());
  *outgoing = BIO_new(BIO_s_mem());
  if (*incoming == NULL || *outgoing == NULL) {
    BIO_free(*incoming);
    BIO_free(*outgoing);
    SSL_free(tls);
    return NULL;
  }
  // An empty BIO means "more may come", not the end.
  BIO_set_mem_eof_return(*incoming, -1);
  BIO_set_mem_eof_return(*outgoing, -1);
  SSL_set_bio(tls, *incoming, *outgoing);
  SSL_set_app_data(tls, psk);
  if (is_dialer) {
    // A listener that presents a certificate instead of the key is refused: no authority is trusted.
    SSL_set_verify(tls, SSL_VERIFY_PEER, NULL);
    SSL_set_connect_state(tls);
  } else {
    SSL_set_accept_state(tls);
  }
  return tls;
}

// Ignores openssl.cnf: both ends must agree on every host. Frees nothing at exit, when another thread may still be
// sealing.
bool rd_tls_init_library(void) {
  return OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL) == 1;
}

// One for all handshakes: creating it takes longer than anything else that an unauthenticated peer can cause.
static SSL_CTX *shared_context(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  return pthread_once(&once, create_context) == 0 ? context : NULL;
}

static void create_context(void) {
  if (!rd_tls_init_library()) return;
  SSL_CTX *made = SSL_CTX_new(TLS_method());
  if (made == NULL) return;
  if (SSL_CTX_set_min_proto_version(made, TLS1_3_VERSION) != 1 || SSL_CTX_set_num_tickets(made, 0) != 1 ||
      SSL_CTX_set_ciphersuites(made, ciphersuite) != 1 || SSL_CTX_set1_groups_list(made, "X25519:P-256") != 1) {
    SSL_CTX_free(made);
    return;
  }
  SSL_CTX_set_options(made, SSL_OP_NO_TICKET);
  SSL_CTX_clear_options(made, SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
  SSL_CTX_set_mode(made, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_psk_use_session_callback(made, offer_key);
  SSL_CTX_set_psk_find_session_callback(made, find_key);
  context = made;
}

// Dialer: chooses the key to offer. If there is none (TLS asks for another digest than SHA-384), the handshake fails.
static int offer_key(SSL *tls, const EVP_MD *digest, const unsigned char **identity, size_t *identity_bytes,
                     SSL_SESSION **session) {
  const struct rd_tls_psk *psk = SSL_get_app_data(tls);
  if (digest != NULL && EVP_MD_get_type(digest) != NID_sha384) return 0;
  *identity = (const unsigned char *)psk->identity;
  *identity_bytes = strlen(psk->identity);
  *session = make_session(tls, psk);
  return *session != NULL;
}

// Listener: finds the key for the identity that the dialer named.
static int find_key(SSL *tls, const unsigned char *identity, size_t identity_bytes, SSL_SESSION **session) {
  struct rd_tls_psk *psk = SSL_get_app_data(tls);
  *session = NULL;
  psk->is_other = psk->other[0] != '\0' && is_named(psk->other, identity, identity_bytes);
  if (!psk->is_other && !is_named(psk->identity, identity, identity_bytes)) {
    psk->unknown = true;
    return 1;
  }
  *session = make_session(tls, psk);
  return *session != NULL;
}

static bool is_named(const char *name, const unsigned char *identity, size_t identity_bytes) {
  return identity_bytes == strlen(name) && memcmp(identity, name, identity_bytes) == 0;
}

static SSL_SESSION *make_session(SSL *tls, const struct rd_tls_psk *psk) {
  const SSL_CIPHER *cipher = SSL_CIPHER_find(tls, ciphersuite_id);
  SSL_SESSION *session = SSL_SESSION_new();
  if (session != NULL && cipher != NULL && SSL_SESSION_set1_master_key(session, psk->key, psk->key_bytes) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
    return session;
  SSL_SESSION_free(session);
  return NULL;
}
