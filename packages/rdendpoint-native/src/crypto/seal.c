// SPDX-License-Identifier: Apache-2.0
#include "crypto/seal.h"

#include "base/bytes.h"
#include "base/memory.h"

#include <inttypes.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

enum { KEY_BYTES = RD_SEAL_KEY_BYTES, IV_BYTES = RD_SEAL_IV_BYTES };
// At most a quarter of a TiB is sealed under one key.
#define RATCHET_FRAMES_DEFAULT (UINT64_C(1) << 18)
#define OPENSSL_WITH_WIDE_GCM 0x30100000ul

// Frames that are counted together, and their keys. There are two lanes because a worker may still be sealing a DATA
// frame when a PONG has to be sent.
struct lane {
  unsigned char key_and_iv[KEY_BYTES + IV_BYTES];
  uint64_t sequence; // of the next frame
};
enum lane_name { LANE_DATA, LANE_OTHER, LANES };

struct rd_seal {
  bool chacha;
  struct lane lanes[LANES];
  uint64_t ratchet_frames;
  struct rd_sealer *sealer;
};

struct rd_sealer {
  EVP_CIPHER_CTX *context;
  unsigned char key[KEY_BYTES]; // the key in the context
};

#if defined(__x86_64__) || defined(__i386__)
static bool has_vector_aes(void);
#endif
static bool take_turn(struct rd_seal *seal, enum rd_frame_type type, struct rd_frame_key *turn, struct rd_error *error);
static enum lane_name lane_of(enum rd_frame_type type);
static bool ratchet(struct lane *lane);
static bool derive_next(const unsigned char key[KEY_BYTES], unsigned char next[KEY_BYTES + IV_BYTES]);
static bool begin_frame(struct rd_sealer *sealer, bool sealing, const struct rd_frame_key *turn,
                        const unsigned char *header);
static bool make_tag(struct rd_sealer *sealer, const unsigned char *payload, size_t bytes, unsigned char *out,
                     unsigned char tag[RD_TAG_BYTES]);

struct rd_seal *rd_seal_create(bool chacha, const unsigned char key_and_iv[KEY_BYTES + IV_BYTES],
                               uint64_t ratchet_frames, struct rd_error *error) {
  struct rd_seal *seal = rd_memory_new(1, sizeof *seal);
  seal->chacha = chacha;
  seal->ratchet_frames = ratchet_frames > 0 ? ratchet_frames : RATCHET_FRAMES_DEFAULT;
  for (int i = 0; i < LANES; i++) memcpy(seal->lanes[i].key_and_iv, key_and_iv, sizeof seal->lanes[i].key_and_iv);
  seal->sealer = rd_sealer_create(seal, error);
  if (seal->sealer != NULL) return seal;
  rd_seal_destroy(seal);
  return NULL;
}

void rd_seal_destroy(struct rd_seal *seal) {
  if (seal == NULL) return;
  rd_sealer_destroy(seal->sealer);
  OPENSSL_cleanse(seal, sizeof *seal);
  free(seal);
}

bool rd_seal_next(struct rd_seal *seal, struct rd_frame *frame, struct rd_frame_key *turn, struct rd_error *error) {
  if ((frame->flags & RD_FLAG_MACED) == 0) frame->flags |= RD_FLAG_SEALED;
  frame->sequence = seal->lanes[lane_of(frame->type)].sequence;
  return take_turn(seal, frame->type, turn, error);
}

bool rd_seal_expect(struct rd_seal *seal, const struct rd_frame *frame, size_t message_bytes, struct rd_frame_key *turn,
                    struct rd_error *error) {
  size_t most = RD_HEADER_BYTES + RD_SLOT_MAX_BYTES + RD_TAG_BYTES;
  if (!rd_frame_has_tag(frame) || message_bytes < RD_HEADER_BYTES + RD_TAG_BYTES || message_bytes > most) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent a frame without a tag");
    return false;
  }
  uint64_t expected = seal->lanes[lane_of(frame->type)].sequence;
  if (frame->sequence == expected) return take_turn(seal, frame->type, turn, error);
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the peer sent frame %" PRIu64 ", expected frame %" PRIu64, frame->sequence,
               expected);
  return false;
}

struct rd_sealer *rd_sealer_create(const struct rd_seal *seal, struct rd_error *error) {
  struct rd_sealer *sealer = rd_memory_new(1, sizeof *sealer);
  const EVP_CIPHER *cipher = seal->chacha ? EVP_chacha20_poly1305() : EVP_aes_256_gcm();
  sealer->context = EVP_CIPHER_CTX_new();
  // The key is all zeros until the first turn.
  if (sealer->context != NULL && EVP_CipherInit_ex(sealer->context, cipher, NULL, sealer->key, NULL, 1) == 1)
    return sealer;
  rd_sealer_destroy(sealer);
  rd_error_set(error, RD_CODE_INTERNAL, "cannot set up %s", seal->chacha ? "chacha20-poly1305" : "aes-256-gcm");
  return NULL;
}

void rd_sealer_destroy(struct rd_sealer *sealer) {
  if (sealer == NULL) return;
  EVP_CIPHER_CTX_free(sealer->context);
  OPENSSL_cleanse(sealer, sizeof *sealer);
  free(sealer);
}

bool rd_sealer_seal(struct rd_sealer *sealer, const struct rd_frame_key *turn, const struct rd_frame *frame,
                    const unsigned char *payload, size_t bytes, unsigned char header[RD_HEADER_BYTES],
                    unsigned char *out, struct rd_error *error) {
  rd_frame_encode(frame, header);
  bool sealed = bytes <= RD_SLOT_MAX_BYTES && begin_frame(sealer, true, turn, header) &&
                make_tag(sealer, payload, bytes, out, out + bytes);
  if (!sealed) rd_error_set(error, RD_CODE_INTERNAL, "cannot encrypt a frame of %zu bytes", bytes);
  return sealed;
}

bool rd_sealer_mac(struct rd_sealer *sealer, const struct rd_frame_key *turn, const struct rd_frame *frame,
                   const unsigned char *payload, size_t bytes, unsigned char header[RD_HEADER_BYTES],
                   unsigned char tag[RD_TAG_BYTES], struct rd_error *error) {
  rd_frame_encode(frame, header);
  bool done = bytes <= RD_SLOT_MAX_BYTES && begin_frame(sealer, true, turn, header) &&
              make_tag(sealer, payload, bytes, NULL, tag);
  if (!done) rd_error_set(error, RD_CODE_INTERNAL, "cannot authenticate a frame of %zu bytes", bytes);
  return done;
}

bool rd_sealer_open(struct rd_sealer *sealer, const struct rd_frame_key *turn, unsigned char *message,
                    size_t message_bytes, unsigned char **payload, size_t *bytes, struct rd_error *error) {
  unsigned char *text = message + RD_HEADER_BYTES;
  size_t text_bytes = message_bytes - RD_HEADER_BYTES - RD_TAG_BYTES;
  unsigned char *out = (message[1] & RD_FLAG_MACED) != 0 ? NULL : text, none[EVP_MAX_BLOCK_LENGTH];
  int ignored;
  bool opened = begin_frame(sealer, false, turn, message) &&
                EVP_DecryptUpdate(sealer->context, out, &ignored, text, (int)text_bytes) == 1 &&
                EVP_CIPHER_CTX_ctrl(sealer->context, EVP_CTRL_AEAD_SET_TAG, RD_TAG_BYTES, text + text_bytes) == 1 &&
                EVP_DecryptFinal_ex(sealer->context, none, &ignored) == 1;
  if (!opened) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "a frame was changed in transit (number %" PRIu64 ")",
                 rd_get_u64(message + RD_HEADER_BYTES - sizeof(uint64_t)));
    return false;
  }
  *payload = text;
  *bytes = text_bytes;
  return true;
}

bool rd_seal_seal(struct rd_seal *seal, struct rd_frame *frame, const unsigned char *payload, size_t bytes,
                  unsigned char header[RD_HEADER_BYTES], unsigned char *out, struct rd_error *error) {
  struct rd_frame_key turn;
  bool sealed = rd_seal_next(seal, frame, &turn, error) &&
                rd_sealer_seal(seal->sealer, &turn, frame, payload, bytes, header, out, error);
  OPENSSL_cleanse(&turn, sizeof turn);
  return sealed;
}

bool rd_seal_open(struct rd_seal *seal, unsigned char *message, size_t message_bytes, const struct rd_frame *frame,
                  unsigned char **payload, size_t *bytes, struct rd_error *error) {
  struct rd_frame_key turn;
  bool opened = rd_seal_expect(seal, frame, message_bytes, &turn, error) &&
                rd_sealer_open(seal->sealer, &turn, message, message_bytes, payload, bytes, error);
  OPENSSL_cleanse(&turn, sizeof turn);
  return opened;
}

// GB/s with frames of 256 KiB, OpenSSL 3.0 and 3.5 alike: on a Zen 3 AES-256-GCM 3.9, ChaCha20-Poly1305 2.2, GMAC 7.6,
// Poly1305 6.6; the same without AES instructions 0.25, 1.3, 0.54, 4.8. On a Zen 4 GMAC 8.6, and Poly1305 with AVX-512
// 10.2; but since 3.1 OpenSSL has AVX-512 code for AES-256-GCM as well, with 18 GB/s.
bool rd_cpu_prefers_poly1305(void) {
  bool has_avx512 = false, has_wide_gcm = false;
#if defined(__x86_64__) || defined(__i386__)
  has_avx512 = __builtin_cpu_supports("avx512f");
  has_wide_gcm = OpenSSL_version_num() >= OPENSSL_WITH_WIDE_GCM && __builtin_cpu_supports("avx512vl") &&
                 __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && has_vector_aes();
#endif
  return !rd_cpu_has_aes() || (has_avx512 && !has_wide_gcm);
}

#if defined(__x86_64__) || defined(__i386__)
// __builtin_cpu_supports() of clang 14 does not know these names.
static bool has_vector_aes(void) {
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_VAES) != 0 && (ecx & bit_VPCLMULQDQ) != 0;
}
#endif

bool rd_cpu_has_aes(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
#elif defined(__aarch64__)
  return (~getauxval(AT_HWCAP) & (HWCAP_AES | HWCAP_PMULL)) == 0;
#else
  return false;
#endif
}

static bool take_turn(struct rd_seal *seal, enum rd_frame_type type, struct rd_frame_key *turn,
                      struct rd_error *error) {
  enum lane_name name = lane_of(type);
  struct lane *lane = &seal->lanes[name];
  bool is_due = lane->sequence > 0 && lane->sequence % seal->ratchet_frames == 0;
  if (is_due && !ratchet(lane)) {
    rd_error_set(error, RD_CODE_INTERNAL, "cannot derive the next data key");
    return false;
  }
  uint64_t big_endian = htobe64(lane->sequence);
  unsigned char sequence[sizeof big_endian];
  memcpy(sequence, &big_endian, sizeof sequence);
  memcpy(turn->key, lane->key_and_iv, KEY_BYTES);
  memcpy(turn->nonce, lane->key_and_iv + KEY_BYTES, IV_BYTES);
  for (size_t i = 0; i < sizeof sequence; i++) turn->nonce[IV_BYTES - sizeof sequence + i] ^= sequence[i];
  if (name == LANE_OTHER) turn->nonce[0] ^= 1; // so that no nonce is used twice
  lane->sequence++;
  return true;
}

static enum lane_name lane_of(enum rd_frame_type type) {
  return type == RD_FRAME_DATA ? LANE_DATA : LANE_OTHER;
}

static bool ratchet(struct lane *lane) {
  unsigned char next[KEY_BYTES + IV_BYTES];
  bool done = derive_next(lane->key_and_iv, next);
  if (done) memcpy(lane->key_and_iv, next, sizeof next);
  OPENSSL_cleanse(next, sizeof next);
  return done;
}

static bool derive_next(const unsigned char key[KEY_BYTES], unsigned char next[KEY_BYTES + IV_BYTES]) {
  char digest[] = "SHA384", info[] = "rdpipe ratchet";
  int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
  EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)(uintptr_t)key, KEY_BYTES),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info, sizeof info - 1),
      OSSL_PARAM_construct_end(),
  };
  bool done = context != NULL && EVP_KDF_derive(context, next, KEY_BYTES + IV_BYTES, parameters) == 1;
  EVP_KDF_CTX_free(context);
  EVP_KDF_free(kdf);
  return done;
}

static bool begin_frame(struct rd_sealer *sealer, bool sealing, const struct rd_frame_key *turn,
                        const unsigned char *header) {
  int ignored;
  // Setting a key takes longer than sealing a small frame.
  const unsigned char *key = CRYPTO_memcmp(sealer->key, turn->key, KEY_BYTES) != 0 ? turn->key : NULL;
  if (key != NULL) memcpy(sealer->key, key, KEY_BYTES);
  return EVP_CipherInit_ex(sealer->context, NULL, NULL, key, turn->nonce, sealing) == 1 &&
         EVP_CipherUpdate(sealer->context, NULL, &ignored, header, RD_HEADER_BYTES) == 1;
}

// With `out` NULL the payload is only authenticated.
static bool make_tag(struct rd_sealer *sealer, const unsigned char *payload, size_t bytes, unsigned char *out,
                     unsigned char tag[RD_TAG_BYTES]) {
  unsigned char none[EVP_MAX_BLOCK_LENGTH];
  int ignored;
  return EVP_EncryptUpdate(sealer->context, out, &ignored, payload, (int)bytes) == 1 &&
         EVP_EncryptFinal_ex(sealer->context, none, &ignored) == 1 &&
         EVP_CIPHER_CTX_ctrl(sealer->context, EVP_CTRL_AEAD_GET_TAG, RD_TAG_BYTES, tag) == 1;
}
