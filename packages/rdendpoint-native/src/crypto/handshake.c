// SPDX-License-Identifier: Apache-2.0
#include "crypto/handshake.h"

#include "base/bytes.h"
#include "base/hex.h"
#include "crypto/tls.h"
#include "wire/window.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char exporter_label[] = "EXPORTER-rdpipe-data", join_label[] = "EXPORTER-rdpipe-join";
enum { DATA_KEY_BYTES = 44, SLOTS_MAX = 1 << 16 };
// Each with AES and with ChaCha20.
static const char *const cipher_names[][2] = {[RD_PROTECTION_NONE] = {"none", "none"},
                                              [RD_PROTECTION_MAC] = {"aes-256-gmac", "poly1305"},
                                              [RD_PROTECTION_SEAL] = {"aes-256-gcm", "chacha20-poly1305"}};

struct rd_handshake {
  SSL *tls;
  BIO *incoming; // owned by tls
  BIO *outgoing; // owned by tls
  unsigned char key[RD_KEY_BYTES];
  struct rd_tls_psk psk;
  enum rd_role role;
  bool is_dialer;
  bool authenticated;
  bool hello_received;
  bool failed;
  uint32_t join_epoch;
  struct rd_hello mine;
  bool adapts_slots;
  struct rd_hello peer;
};

static bool uses_chacha(enum rd_protection protection, const struct rd_hello *mine, const struct rd_hello *peer);
static bool advance(struct rd_handshake *handshake, struct rd_error *error);
static void follow_dialer(struct rd_handshake *handshake);
static bool authenticate(struct rd_handshake *handshake, struct rd_error *error);
static void explain_failure(const struct rd_handshake *handshake, struct rd_error *error);
static bool is_key_failure(int reason);
static bool receive_hello(struct rd_handshake *handshake, struct rd_error *error);
static bool check_hello(const struct rd_handshake *handshake, struct rd_error *error);
static bool send_hello(struct rd_handshake *handshake, struct rd_error *error);
static bool export_join(const struct rd_handshake *handshake, struct rd_agreement *agreement, struct rd_error *error);
static struct rd_seal *export_seal(const struct rd_handshake *handshake, enum rd_role sealer, bool chacha,
                                   struct rd_error *error);

struct rd_handshake *rd_handshake_create(const struct rd_identity *identity, enum rd_role role, bool is_dialer,
                                         const struct rd_hello *mine, struct rd_error *error) {
  struct rd_handshake *handshake = calloc(1, sizeof *handshake);
  if (handshake == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a handshake");
    return NULL;
  }
  handshake->role = role;
  handshake->is_dialer = is_dialer;
  handshake->mine = *mine;
  memcpy(handshake->key, identity->key, RD_KEY_BYTES);
  handshake->psk = (struct rd_tls_psk){.key = handshake->key, .key_bytes = RD_KEY_BYTES};
  bool dialer_sends = (role == RD_ROLE_SENDER) == is_dialer;
  struct rd_tls_psk *psk = &handshake->psk;
  const char *dialer = dialer_sends ? "sender" : "receiver";
  snprintf(psk->identity, sizeof psk->identity, "rdpipe/1 %s %u %s", identity->run, identity->hop, dialer);
  handshake->join_epoch = identity->join_epoch;
  if (identity->join[0] != '\0') {
    char *joins = is_dialer ? psk->identity : psk->other;
    snprintf(joins, sizeof psk->other, "rdpipe/1 %s %u %s %s", identity->run, identity->hop, dialer, identity->join);
    psk->is_other = is_dialer;
  }
  handshake->tls = rd_tls_create(&handshake->psk, is_dialer, &handshake->incoming, &handshake->outgoing);
  if (handshake->tls != NULL) return handshake;
  rd_handshake_destroy(handshake);
  rd_error_set(error, RD_CODE_INTERNAL, "cannot set up TLS 1.3");
  return NULL;
}

void rd_handshake_adapt_slots(struct rd_handshake *handshake) {
  handshake->adapts_slots = true;
}

bool rd_handshake_input(struct rd_handshake *handshake, const unsigned char *payload, size_t bytes,
                        struct rd_error *error) {
  size_t written = 0;
  if (handshake->failed || handshake->hello_received || bytes > RD_HANDSHAKE_MESSAGE_MAX_BYTES) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent an unexpected handshake message");
    return false;
  }
  if (bytes > 0 && BIO_write_ex(handshake->incoming, payload, bytes, &written) != 1) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a handshake message");
    return false;
  }
  ERR_clear_error();
  handshake->failed = !advance(handshake, error);
  return !handshake->failed;
}

size_t rd_handshake_output(struct rd_handshake *handshake, unsigned char *out, size_t out_bytes) {
  size_t drained = 0;
  return BIO_read_ex(handshake->outgoing, out, out_bytes, &drained) == 1 ? drained : 0;
}

bool rd_handshake_complete(const struct rd_handshake *handshake) {
  return handshake->hello_received && !handshake->failed && BIO_ctrl_pending(handshake->outgoing) == 0;
}

bool rd_handshake_named_key(const struct rd_handshake *handshake) {
  return !handshake->is_dialer && SSL_session_reused(handshake->tls) == 1;
}

bool rd_handshake_is_lane(const struct rd_handshake *handshake) {
  return handshake->psk.is_other;
}

bool rd_handshake_take(struct rd_handshake *handshake, struct rd_agreement *agreement, struct rd_error *error) {
  const struct rd_hello *mine = &handshake->mine, *peer = &handshake->peer;
  bool sends = handshake->role == RD_ROLE_SENDER;
  const struct rd_hello *sender = sends ? mine : peer, *receiver = sends ? peer : mine;
  enum rd_protection protection = mine->wants > peer->wants ? mine->wants : peer->wants;
  bool chacha = uses_chacha(protection, mine, peer);
  unsigned lanes = mine->lanes < peer->lanes ? mine->lanes : peer->lanes;
  *agreement = (struct rd_agreement){
      .protection = protection,
      .cipher_name = cipher_names[protection][chacha],
      .compresses = sender->compresses && (receiver->features & RD_FEATURE_ZSTD) != 0,
      .lanes = lanes > 1 ? lanes : 1,
      .mine = *mine,
      .peer = *peer,
  };
  agreement->outgoing = export_seal(handshake, handshake->role, chacha, error);
  agreement->incoming = export_seal(handshake, sends ? RD_ROLE_RECEIVER : RD_ROLE_SENDER, chacha, error);
  if (agreement->outgoing != NULL && agreement->incoming != NULL && export_join(handshake, agreement, error))
    return true;
  rd_seal_destroy(agreement->outgoing);
  rd_seal_destroy(agreement->incoming);
  agreement->outgoing = agreement->incoming = NULL;
  return false;
}

// AES without CPU instructions is many times slower than anything else: one such end is enough. Between two MACs that
// differ less, both ends must gain.
static bool uses_chacha(enum rd_protection protection, const struct rd_hello *mine, const struct rd_hello *peer) {
  bool both_macs = protection == RD_PROTECTION_MAC && mine->prefers_poly1305 && peer->prefers_poly1305;
  return mine->lacks_aes || peer->lacks_aes || both_macs;
}

void rd_handshake_destroy(struct rd_handshake *handshake) {
  if (handshake == NULL) return;
  SSL_free(handshake->tls);
  OPENSSL_cleanse(handshake, sizeof *handshake);
  free(handshake);
}

// Proceeds as far as the received bytes allow: TLS, then the HELLOs, the dialer's first.
static bool advance(struct rd_handshake *handshake, struct rd_error *error) {
  if (!handshake->authenticated) {
    if (!authenticate(handshake, error)) return false;
    if (!handshake->authenticated) return true;
    if (handshake->is_dialer && !send_hello(handshake, error)) return false;
  }
  if (!receive_hello(handshake, error)) return false;
  if (!handshake->hello_received) return true;
  if (!handshake->is_dialer) follow_dialer(handshake);
  // Sent before the peer's HELLO is checked, so that both ends can report a version mismatch.
  if (!handshake->is_dialer && !send_hello(handshake, error)) return false;
  return check_hello(handshake, error);
}

// A listener adapts its HELLO to the dialer's.
static void follow_dialer(struct rd_handshake *handshake) {
  struct rd_hello *mine = &handshake->mine;
  const struct rd_hello *dialer = &handshake->peer;
  if (handshake->adapts_slots && (dialer->compresses || dialer->wants == RD_PROTECTION_SEAL)) {
    struct rd_window window = {.slots = mine->slots, .slot_bytes = mine->slot_bytes};
    window = rd_window_for_codec(&window);
    mine->slots = window.slots;
    mine->slot_bytes = window.slot_bytes;
  }
  if (rd_handshake_is_lane(handshake))
    mine->epoch = handshake->join_epoch;
  else if (dialer->epoch > mine->epoch)
    mine->epoch = dialer->epoch;
}

// Sets `authenticated` when TLS is complete. Also returns true if more bytes are needed first.
static bool authenticate(struct rd_handshake *handshake, struct rd_error *error) {
  int result = SSL_do_handshake(handshake->tls);
  if (result != 1 && SSL_get_error(handshake->tls, result) == SSL_ERROR_WANT_READ) return true;
  // TLS reports a reused session if a key was proved instead of a certificate.
  handshake->authenticated = result == 1 && SSL_session_reused(handshake->tls) == 1;
  handshake->psk.unknown = handshake->psk.unknown || (result == 1 && !handshake->authenticated);
  if (!handshake->authenticated) explain_failure(handshake, error);
  return handshake->authenticated;
}

static void explain_failure(const struct rd_handshake *handshake, struct rd_error *error) {
  unsigned long reason = ERR_peek_error();
  if (handshake->psk.unknown || is_key_failure(ERR_GET_REASON(reason))) {
    rd_error_set(error, RD_CODE_KEY_REFUSED,
                 "wrong key: the other side uses a different one, or belongs to another connection");
  } else {
    const char *message = reason != 0 ? ERR_reason_error_string(reason) : NULL;
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the other side does not speak this protocol (tls: %s)",
                 message != NULL ? message : "no reason given");
  }
  ERR_clear_error();
}

// OpenSSL's reasons for a wrong key: the first two at the listener, the others at the dialer (alerts, and a certificate
// although only the key counts).
static bool is_key_failure(int reason) {
  switch (reason) {
  case SSL_R_BINDER_DOES_NOT_VERIFY:
  case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
  case SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE:
  case SSL_R_SSLV3_ALERT_ILLEGAL_PARAMETER:
  case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
  case SSL_AD_REASON_OFFSET + SSL_AD_UNKNOWN_PSK_IDENTITY:
  case SSL_R_CERTIFICATE_VERIFY_FAILED:
    return true;
  default:
    return false;
  }
}

// Fills `peer` and sets `hello_received` when the HELLO is complete. Also returns true if it is not complete yet.
static bool receive_hello(struct rd_handshake *handshake, struct rd_error *error) {
  unsigned char bytes[RD_HELLO_BYTES + 1];
  size_t count;
  if (SSL_read_ex(handshake->tls, bytes, sizeof bytes, &count) == 1) {
    handshake->hello_received = rd_hello_decode(bytes, count, &handshake->peer, error);
    return handshake->hello_received;
  }
  if (SSL_get_error(handshake->tls, 0) == SSL_ERROR_WANT_READ) return true;
  explain_failure(handshake, error);
  return false;
}

static bool check_hello(const struct rd_handshake *handshake, struct rd_error *error) {
  const struct rd_hello *mine = &handshake->mine, *peer = &handshake->peer;
  if (peer->version != mine->version) {
    rd_error_set(error, RD_CODE_CANNOT_CONNECT, "the other side speaks version %u of the protocol, this one version %u",
                 peer->version, mine->version);
    return false;
  }
  bool right = BIO_ctrl_pending(handshake->incoming) == 0 && SSL_pending(handshake->tls) == 0;
  if (handshake->role == RD_ROLE_SENDER)
    right = right && peer->slot_bytes > 0 && peer->slot_bytes <= RD_SLOT_MAX_BYTES && peer->slots > 0 &&
            peer->slots <= SLOTS_MAX && peer->small_slots <= SLOTS_MAX;
  else
    right = right && peer->slot_bytes == 0 && peer->slots == 0 && peer->small_slots == 0;
  // Must be equal to this end's epoch, which was raised to the dialer's; a later connection needs a higher one.
  if (right && peer->epoch == mine->epoch && peer->epoch > 0 && peer->epoch < UINT32_MAX) return true;
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "invalid HELLO from the peer");
  return false;
}

static bool send_hello(struct rd_handshake *handshake, struct rd_error *error) {
  unsigned char bytes[RD_HELLO_BYTES];
  size_t written;
  rd_hello_encode(&handshake->mine, bytes);
  if (SSL_write_ex(handshake->tls, bytes, sizeof bytes, &written) == 1) return true;
  rd_error_set(error, RD_CODE_INTERNAL, "cannot encrypt the handshake");
  return false;
}

static bool export_join(const struct rd_handshake *handshake, struct rd_agreement *agreement, struct rd_error *error) {
  unsigned char join[(RD_JOIN_BYTES - 1) / 2];
  if (agreement->lanes <= 1) return true;
  if (SSL_export_keying_material(handshake->tls, join, sizeof join, join_label, sizeof join_label - 1, NULL, 0, 0) ==
      1) {
    return rd_hex_encode(join, sizeof join, agreement->join, sizeof agreement->join);
  }
  rd_error_set(error, RD_CODE_INTERNAL, "cannot derive the name of further lanes");
  return false;
}

// Returns the seal of the frames that `sealer` sends.
static struct rd_seal *export_seal(const struct rd_handshake *handshake, enum rd_role sealer, bool chacha,
                                   struct rd_error *error) {
  unsigned char context[5] = {sealer == RD_ROLE_SENDER ? 's' : 'r'}, key_and_iv[DATA_KEY_BYTES];
  rd_put_u32(context + 1, handshake->mine.epoch);
  if (SSL_export_keying_material(handshake->tls, key_and_iv, sizeof key_and_iv, exporter_label,
                                 sizeof exporter_label - 1, context, sizeof context, 1) != 1) {
    rd_error_set(error, RD_CODE_INTERNAL, "cannot derive the data keys");
    return NULL;
  }
  struct rd_seal *seal = rd_seal_create(chacha, key_and_iv, 0, error);
  OPENSSL_cleanse(key_and_iv, sizeof key_and_iv);
  return seal;
}
