// SPDX-License-Identifier: Apache-2.0
// Both ends of the handshake in one process.
#include "crypto/key_derivation.h"

#include "base/hex.h"
#include "base/protocol_version.h"
#include "test.h"

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string.h>

enum { PIECE_BYTES = RD_HANDSHAKE_MESSAGE_MAX_BYTES - RD_HEADER_BYTES };

struct end {
  struct rd_handshake *handshake;
  struct rd_error error;
  bool failed;
};

static const unsigned char right_key[RD_KEY_BYTES] = "the key that both ends hold....";
static const unsigned char wrong_key[RD_KEY_BYTES] = "a key that only one end holds..";
static const struct rd_hello sender_hello = {.version = RD_PROTOCOL_VERSION, .epoch = 1};
static const struct rd_hello receiver_hello = {
    .version = RD_PROTOCOL_VERSION, .epoch = 1, .slot_bytes = RD_SLOT_MAX_BYTES, .slots = 8};

static struct end make_end(const unsigned char *key, const char *run, unsigned hop, enum rd_role role, bool is_dialer,
                           const struct rd_hello *hello) {
  struct end end = {0};
  struct rd_identity identity = {.key = key, .hop = hop};
  snprintf(identity.run, sizeof identity.run, "%s", run);
  end.handshake = rd_handshake_create(&identity, role, is_dialer, hello, &end.error);
  REQUIRE(end.handshake != NULL);
  return end;
}

static struct end make_sender(const unsigned char *key, bool is_dialer) {
  return make_end(key, "run", 1, RD_ROLE_SENDER, is_dialer, &sender_hello);
}

static struct end make_receiver(const unsigned char *key, bool is_dialer) {
  return make_end(key, "run", 1, RD_ROLE_RECEIVER, is_dialer, &receiver_hello);
}

static void feed(struct end *end, const unsigned char *bytes, size_t count) {
  if (!end->failed) end->failed = !rd_handshake_input(end->handshake, bytes, count, &end->error);
}

// Moves all output of `from` to `to`, in pieces of at most `piece_bytes`. Returns false if there was none.
static bool carry(struct end *from, struct end *to, size_t piece_bytes) {
  unsigned char piece[PIECE_BYTES];
  bool carried = false;
  for (size_t count; (count = rd_handshake_output(from->handshake, piece, piece_bytes)) > 0; carried = true)
    feed(to, piece, count);
  return carried;
}

static void run_handshake(struct end *is_dialer, struct end *listener, size_t piece_bytes) {
  feed(is_dialer, NULL, 0);
  feed(listener, NULL, 0);
  bool moving = true;
  while (moving) {
    moving = carry(is_dialer, listener, piece_bytes);
    moving = carry(listener, is_dialer, piece_bytes) || moving;
  }
}

static void destroy_ends(struct end *first, struct end *second) {
  rd_handshake_destroy(first->handshake);
  rd_handshake_destroy(second->handshake);
}

static bool refused(const struct end *end) {
  return end->failed && end->error.code == RD_CODE_KEY_REFUSED && !rd_handshake_complete(end->handshake);
}

static bool frames_pass(struct rd_seal *from, struct rd_seal *to) {
  unsigned char message[RD_HEADER_BYTES + 5 + RD_TAG_BYTES], *payload;
  struct rd_frame frame = {.type = RD_FRAME_DATA, .epoch = 1};
  struct rd_error error;
  size_t bytes;
  REQUIRE(rd_seal_seal(from, &frame, (const unsigned char *)"hello", 5, message, message + RD_HEADER_BYTES, &error));
  return rd_frame_decode(message, sizeof message, &frame, &error) &&
         rd_seal_open(to, message, sizeof message, &frame, &payload, &bytes, &error) && bytes == 5 &&
         memcmp(payload, "hello", 5) == 0;
}

static void destroy_agreement(struct rd_agreement *agreement) {
  rd_seal_destroy(agreement->outgoing);
  rd_seal_destroy(agreement->incoming);
}

static void the_right_key(bool sender_dials, size_t piece_bytes) {
  struct end sender = make_sender(right_key, sender_dials), receiver = make_receiver(right_key, !sender_dials);
  struct rd_agreement sent, received;
  run_handshake(sender_dials ? &sender : &receiver, sender_dials ? &receiver : &sender, piece_bytes);
  REQUIRE(!sender.failed && !receiver.failed);
  REQUIRE(rd_handshake_complete(sender.handshake) && rd_handshake_complete(receiver.handshake));
  REQUIRE(rd_handshake_take(sender.handshake, &sent, &sender.error));
  REQUIRE(rd_handshake_take(receiver.handshake, &received, &receiver.error));
  CHECK(sent.peer.slots == 8 && sent.peer.slot_bytes == RD_SLOT_MAX_BYTES && received.peer.slots == 0);
  CHECK(sent.protection == RD_PROTECTION_NONE && received.protection == RD_PROTECTION_NONE);
  CHECK(strcmp(sent.cipher_name, "none") == 0);
  CHECK(frames_pass(sent.outgoing, received.incoming));
  CHECK(frames_pass(received.outgoing, sent.incoming));
  CHECK(!frames_pass(sent.outgoing, sent.incoming)); // each direction has its own key
  destroy_agreement(&sent);
  destroy_agreement(&received);
  destroy_ends(&sender, &receiver);
}

// The stronger choice of both ends applies, with a cipher for both CPUs.
static void what_the_hellos_say(enum rd_protection wish, enum rd_protection other_wish, unsigned cpus) {
  static const char *const names[][2] = {
      {"none", "none"}, {"aes-256-gmac", "poly1305"}, {"aes-256-gcm", "chacha20-poly1305"}};
  struct rd_hello from = sender_hello, to = receiver_hello;
  enum rd_protection stronger = wish > other_wish ? wish : other_wish;
  from.wants = wish;
  to.wants = other_wish;
  from.lacks_aes = cpus & 1;
  to.lacks_aes = cpus & 2;
  from.prefers_poly1305 = cpus & 4;
  to.prefers_poly1305 = cpus & 8;
  bool chacha = (cpus & 3) != 0 || (stronger == RD_PROTECTION_MAC && cpus == 12);
  struct end sender = make_end(right_key, "-", 0, RD_ROLE_SENDER, true, &from);
  struct end receiver = make_end(right_key, "-", 0, RD_ROLE_RECEIVER, false, &to);
  struct rd_agreement sent, received;
  run_handshake(&sender, &receiver, PIECE_BYTES);
  REQUIRE(rd_handshake_take(sender.handshake, &sent, &sender.error));
  REQUIRE(rd_handshake_take(receiver.handshake, &received, &receiver.error));
  CHECK(sent.protection == stronger && received.protection == stronger);
  CHECK(strcmp(sent.cipher_name, names[stronger][chacha]) == 0);
  CHECK(strcmp(received.cipher_name, sent.cipher_name) == 0);
  CHECK(frames_pass(sent.outgoing, received.incoming) && frames_pass(received.outgoing, sent.incoming));
  destroy_agreement(&sent);
  destroy_agreement(&received);
  destroy_ends(&sender, &receiver);
}

// Compression is agreed if the sender offers it and the receiver supports it.
static void compression_agreed(bool offered, bool takes) {
  struct rd_hello from = sender_hello, to = receiver_hello;
  from.compresses = offered;
  from.features = RD_FEATURE_ZSTD;
  to.features = takes ? RD_FEATURE_ZSTD : 0;
  to.compresses = true; // ignored from a receiver
  struct end sender = make_end(right_key, "-", 0, RD_ROLE_SENDER, true, &from);
  struct end receiver = make_end(right_key, "-", 0, RD_ROLE_RECEIVER, false, &to);
  struct rd_agreement sent, received;
  run_handshake(&sender, &receiver, PIECE_BYTES);
  REQUIRE(rd_handshake_take(sender.handshake, &sent, &sender.error));
  REQUIRE(rd_handshake_take(receiver.handshake, &received, &receiver.error));
  CHECK(sent.compresses == (offered && takes) && received.compresses == (offered && takes));
  destroy_agreement(&sent);
  destroy_agreement(&received);
  destroy_ends(&sender, &receiver);
}

// A receiver that listens knows in time that DATA will be compressed or sealed.
static void granted(bool compresses, enum rd_protection wants, bool adapts, uint32_t slots) {
  struct rd_hello from = sender_hello, to = receiver_hello;
  from.compresses = compresses;
  from.wants = wants;
  struct end sender = make_end(right_key, "-", 0, RD_ROLE_SENDER, true, &from);
  struct end receiver = make_end(right_key, "-", 0, RD_ROLE_RECEIVER, false, &to);
  struct rd_agreement sent, received;
  if (adapts) rd_handshake_adapt_slots(receiver.handshake);
  run_handshake(&sender, &receiver, PIECE_BYTES);
  REQUIRE(rd_handshake_take(sender.handshake, &sent, &sender.error));
  REQUIRE(rd_handshake_take(receiver.handshake, &received, &receiver.error));
  CHECK(sent.peer.slots == slots && sent.peer.slot_bytes == 8 * RD_SLOT_MAX_BYTES / slots);
  CHECK(received.mine.slots == slots && received.mine.slot_bytes == sent.peer.slot_bytes);
  destroy_agreement(&sent);
  destroy_agreement(&received);
  destroy_ends(&sender, &receiver);
}

static void a_wrong_key(bool sender_dials) {
  struct end sender = make_sender(right_key, sender_dials), receiver = make_receiver(wrong_key, !sender_dials);
  run_handshake(sender_dials ? &sender : &receiver, sender_dials ? &receiver : &sender, PIECE_BYTES);
  CHECK(refused(&sender) && refused(&receiver));
  destroy_ends(&sender, &receiver);
}

static void another_hop(void) {
  struct end sender = make_sender(right_key, true);
  struct end receiver = make_end(right_key, "run", 2, RD_ROLE_RECEIVER, false, &receiver_hello);
  run_handshake(&sender, &receiver, PIECE_BYTES);
  CHECK(refused(&sender) && refused(&receiver));
  destroy_ends(&sender, &receiver);
  sender = make_sender(right_key, true);
  receiver = make_end(right_key, "other", 1, RD_ROLE_RECEIVER, false, &receiver_hello);
  run_handshake(&sender, &receiver, PIECE_BYTES);
  CHECK(refused(&sender) && refused(&receiver));
  destroy_ends(&sender, &receiver);
}

// Two ends of the same role: a connection that was reflected to its own end.
static void reflected(void) {
  struct end is_dialer = make_sender(right_key, true), listener = make_sender(right_key, false);
  run_handshake(&is_dialer, &listener, PIECE_BYTES);
  CHECK(refused(&is_dialer) && refused(&listener));
  destroy_ends(&is_dialer, &listener);
  is_dialer = make_receiver(right_key, true), listener = make_receiver(right_key, false);
  run_handshake(&is_dialer, &listener, PIECE_BYTES);
  CHECK(refused(&is_dialer) && refused(&listener));
  destroy_ends(&is_dialer, &listener);
}

static void impossible_hello(const struct rd_hello *from, const struct rd_hello *to, enum rd_code expected) {
  struct end sender = make_end(right_key, "run", 1, RD_ROLE_SENDER, true, from);
  struct end receiver = make_end(right_key, "run", 1, RD_ROLE_RECEIVER, false, to);
  run_handshake(&sender, &receiver, PIECE_BYTES);
  CHECK(sender.failed || receiver.failed);
  CHECK(!sender.failed || sender.error.code == expected);
  CHECK(!receiver.failed || receiver.error.code == expected);
  CHECK(!rd_handshake_complete(sender.handshake) || !rd_handshake_complete(receiver.handshake));
  destroy_ends(&sender, &receiver);
}

static void impossible_hellos(void) {
  struct rd_hello hello = sender_hello;
  hello.slots = 1;
  impossible_hello(&hello, &receiver_hello, RD_CODE_DATA_DAMAGED);
  hello = sender_hello;
  hello.small_slots = 1;
  impossible_hello(&hello, &receiver_hello, RD_CODE_DATA_DAMAGED);
  hello = receiver_hello;
  hello.slots = 0;
  impossible_hello(&sender_hello, &hello, RD_CODE_DATA_DAMAGED);
  hello.slots = 1u << 20;
  impossible_hello(&sender_hello, &hello, RD_CODE_DATA_DAMAGED);
  hello = receiver_hello;
  hello.small_slots = 1u << 20;
  impossible_hello(&sender_hello, &hello, RD_CODE_DATA_DAMAGED);
  hello = receiver_hello;
  hello.slot_bytes = RD_SLOT_MAX_BYTES + 1;
  impossible_hello(&sender_hello, &hello, RD_CODE_DATA_DAMAGED);
  hello.slot_bytes = 0;
  impossible_hello(&sender_hello, &hello, RD_CODE_DATA_DAMAGED);
  hello = receiver_hello;
  hello.epoch = 2;
  impossible_hello(&sender_hello, &hello, RD_CODE_DATA_DAMAGED);
  // No other connection could have a higher epoch.
  hello = sender_hello;
  hello.epoch = UINT32_MAX;
  impossible_hello(&hello, &receiver_hello, RD_CODE_DATA_DAMAGED);
}

static void another_version(void) {
  struct rd_hello hello = receiver_hello;
  hello.version = RD_PROTOCOL_VERSION + 1;
  struct end sender = make_sender(right_key, true);
  struct end receiver = make_end(right_key, "run", 1, RD_ROLE_RECEIVER, false, &hello);
  run_handshake(&sender, &receiver, PIECE_BYTES);
  CHECK(sender.failed && sender.error.code == RD_CODE_CANNOT_CONNECT && strstr(sender.error.message, "version 2"));
  CHECK(receiver.failed && receiver.error.code == RD_CODE_CANNOT_CONNECT);
  destroy_ends(&sender, &receiver);
}

static void garbage(void) {
  static const char *const other_protocols[] = {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
                                                "\x16\x03\x01\xff\xff\xff\xff\xff", "\x15\x03\x03\x00\x02\x02\x28"};
  for (size_t i = 0; i < sizeof other_protocols / sizeof other_protocols[0]; i++) {
    size_t length = i == 3 ? 7 : strlen(other_protocols[i]);
    struct end is_dialer = make_sender(right_key, true), listener = make_receiver(right_key, false);
    feed(&is_dialer, NULL, 0);
    feed(&is_dialer, (const unsigned char *)other_protocols[i], length);
    feed(&listener, (const unsigned char *)other_protocols[i], length);
    CHECK(is_dialer.failed && listener.failed);
    CHECK(is_dialer.error.code == (i == 3 ? RD_CODE_KEY_REFUSED : RD_CODE_DATA_DAMAGED));
    CHECK(!rd_handshake_input(listener.handshake, (const unsigned char *)"x", 1, &listener.error)); // remains failed
    destroy_ends(&is_dialer, &listener);
  }
}

// Withholds one end's bytes from `limit` on, and in the second round changes one of them.
static void cut_and_changed(size_t limit) {
  for (int changed = 0; changed < 2; changed++) {
    struct end is_dialer = make_sender(right_key, true), listener = make_receiver(right_key, false);
    unsigned char piece[PIECE_BYTES];
    feed(&is_dialer, NULL, 0);
    size_t count = rd_handshake_output(is_dialer.handshake, piece, sizeof piece);
    REQUIRE(count > 0);
    size_t cut = limit % count;
    if (changed == 1) piece[cut] ^= 0x11;
    feed(&listener, piece, changed == 1 ? count : cut);
    bool moving = true;
    while (moving) {
      moving = carry(&listener, &is_dialer, PIECE_BYTES);
      moving = carry(&is_dialer, &listener, PIECE_BYTES) || moving;
    }
    CHECK(!rd_handshake_complete(listener.handshake) && !rd_handshake_complete(is_dialer.handshake));
    if (changed == 0) CHECK(!listener.failed); // it waits for the rest
    destroy_ends(&is_dialer, &listener);
  }
}

static void more_after_the_end(void) {
  struct end sender = make_sender(right_key, true), receiver = make_receiver(right_key, false);
  run_handshake(&sender, &receiver, PIECE_BYTES);
  REQUIRE(rd_handshake_complete(receiver.handshake));
  feed(&receiver, (const unsigned char *)"x", 1);
  CHECK(receiver.failed && receiver.error.code == RD_CODE_DATA_DAMAGED);
  destroy_ends(&sender, &receiver);
}

// Extra bytes after the HELLO of either end.
static void more_than_a_hello(bool of_listener) {
  struct end is_dialer = make_sender(right_key, true), listener = make_receiver(right_key, false);
  struct end *teller = of_listener ? &listener : &is_dialer, *hearer = of_listener ? &is_dialer : &listener;
  unsigned char piece[PIECE_BYTES];
  feed(&is_dialer, NULL, 0);
  carry(&is_dialer, &listener, PIECE_BYTES - 1);
  carry(&listener, &is_dialer, PIECE_BYTES - 1);
  if (of_listener) carry(&is_dialer, &listener, PIECE_BYTES - 1);
  size_t count = rd_handshake_output(teller->handshake, piece, sizeof piece - 1);
  REQUIRE(count > 0 && !is_dialer.failed && !listener.failed);
  piece[count] = 0;
  feed(hearer, piece, count + 1);
  CHECK(hearer->failed && hearer->error.code == RD_CODE_DATA_DAMAGED);
  destroy_ends(&is_dialer, &listener);
}

static void sign(X509 *certificate, EVP_PKEY *key) {
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  REQUIRE(X509_sign(certificate, key, EVP_sha256()) > 0);
}

// A listener that does not have the key but presents a certificate is refused, whatever key signed the certificate.
static void a_certificate_in_place_of_the_key(void) {
  SSL_CTX *context = SSL_CTX_new(TLS_server_method());
  EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
  X509 *certificate = X509_new();
  REQUIRE(context != NULL && key != NULL && certificate != NULL);
  sign(certificate, key);
  REQUIRE(SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1);
  SSL *tls_server = SSL_new(context);
  BIO *incoming = BIO_new(BIO_s_mem()), *outgoing = BIO_new(BIO_s_mem());
  REQUIRE(tls_server != NULL && incoming != NULL && outgoing != NULL);
  SSL_set_bio(tls_server, incoming, outgoing);
  SSL_set_accept_state(tls_server);
  struct end is_dialer = make_sender(right_key, true);
  unsigned char piece[PIECE_BYTES];
  feed(&is_dialer, NULL, 0);
  size_t count = rd_handshake_output(is_dialer.handshake, piece, sizeof piece);
  BIO_write(incoming, piece, (int)count);
  SSL_do_handshake(tls_server);
  int answer = BIO_read(outgoing, piece, sizeof piece);
  REQUIRE(answer > 300); // a complete flight, with the certificate
  feed(&is_dialer, piece, (size_t)answer);
  CHECK(refused(&is_dialer));
  rd_handshake_destroy(is_dialer.handshake);
  SSL_free(tls_server);
  SSL_CTX_free(context);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

static void typed_keys(void) {
  unsigned char key[RD_KEY_BYTES], same[RD_KEY_BYTES];
  char text[2 * RD_KEY_BYTES + 1];
  struct rd_error error;
  CHECK(rd_hex_encode(right_key, sizeof right_key, text, sizeof text));
  CHECK(rd_key_from_text(text, key, &error) && memcmp(key, right_key, sizeof key) == 0);
  text[63] = 'x'; // not hexadecimal any more
  CHECK(rd_key_from_text(text, key, &error));
  CHECK(rd_key_from_text("secret", same, &error) && memcmp(key, same, sizeof key) != 0);
  CHECK(rd_hex_encode(same, sizeof same, text, sizeof text));
  CHECK(strcmp(text, "0188a16cf862ad454ad2d72fd93486c07104f22a8c73a36921f05942d1fb0d94") == 0);
  CHECK(!rd_key_from_text("", key, &error) && error.code == RD_CODE_USAGE);
}

// The dialer is the sender. Returns true if the listener takes it as a further lane.
static bool joins(const struct rd_agreement *first, const char *join, const unsigned char *key, uint32_t epoch) {
  struct rd_hello dialer_hello = sender_hello, listener_hello = receiver_hello;
  struct rd_identity identity = {.key = key, .run = "run", .hop = 1};
  struct end dialer = {0}, listener = {0};
  dialer_hello.epoch = epoch;
  listener_hello.epoch = first->mine.epoch + 1;
  snprintf(identity.join, sizeof identity.join, "%s", join);
  dialer.handshake = rd_handshake_create(&identity, RD_ROLE_SENDER, true, &dialer_hello, &dialer.error);
  identity.key = right_key;
  identity.join_epoch = first->mine.epoch;
  memcpy(identity.join, first->join, sizeof identity.join);
  listener.handshake = rd_handshake_create(&identity, RD_ROLE_RECEIVER, false, &listener_hello, &listener.error);
  run_handshake(&dialer, &listener, PIECE_BYTES);
  bool is_whole = rd_handshake_complete(dialer.handshake) && rd_handshake_complete(listener.handshake);
  bool joined = is_whole && rd_handshake_is_lane(listener.handshake);
  CHECK(joined || refused(&listener) || listener.error.code == RD_CODE_DATA_DAMAGED);
  destroy_ends(&dialer, &listener);
  return joined;
}

// Only the end that made the connection, with its key, may add a lane to it.
static void further_lanes(void) {
  struct rd_hello several = sender_hello, grants = receiver_hello;
  struct rd_agreement agreements[2];
  struct rd_error error;
  several.lanes = 4, grants.lanes = 9;
  struct end dialer = make_end(right_key, "run", 1, RD_ROLE_SENDER, true, &several);
  struct end listener = make_end(right_key, "run", 1, RD_ROLE_RECEIVER, false, &grants);
  run_handshake(&dialer, &listener, PIECE_BYTES);
  REQUIRE(rd_handshake_take(dialer.handshake, &agreements[0], &error));
  REQUIRE(rd_handshake_take(listener.handshake, &agreements[1], &error));
  CHECK(agreements[0].lanes == 4 && agreements[1].lanes == 4 && !rd_handshake_is_lane(listener.handshake));
  CHECK(strlen(agreements[0].join) == 32 && strcmp(agreements[0].join, agreements[1].join) == 0);
  destroy_ends(&dialer, &listener);
  CHECK(joins(&agreements[1], agreements[0].join, right_key, 1));
  CHECK(!joins(&agreements[1], agreements[0].join, right_key, 2));
  CHECK(!joins(&agreements[1], agreements[0].join, wrong_key, 1));
  CHECK(!joins(&agreements[1], "00112233445566778899aabbccddeeff", right_key, 1));
  for (int i = 0; i < 2; i++) {
    rd_seal_destroy(agreements[i].outgoing);
    rd_seal_destroy(agreements[i].incoming);
  }
}

int main(void) {
  for (int sender_dials = 0; sender_dials < 2; sender_dials++) {
    the_right_key(sender_dials == 1, PIECE_BYTES);
    the_right_key(sender_dials == 1, 1);
    a_wrong_key(sender_dials == 1);
    for (int wishes = 0; wishes < 9; wishes++)
      what_the_hellos_say((enum rd_protection)(wishes % 3), (enum rd_protection)(wishes / 3), 0);
    compression_agreed(sender_dials == 1, true);
    compression_agreed(sender_dials == 1, false);
  }
  for (unsigned cpus = 1; cpus < 16; cpus++) {
    what_the_hellos_say(RD_PROTECTION_MAC, RD_PROTECTION_NONE, cpus);
    what_the_hellos_say(RD_PROTECTION_NONE, RD_PROTECTION_SEAL, cpus);
  }
  granted(false, RD_PROTECTION_NONE, true, 8);
  granted(true, RD_PROTECTION_NONE, true, 32);
  granted(false, RD_PROTECTION_MAC, true, 8);
  granted(false, RD_PROTECTION_SEAL, true, 32);
  granted(true, RD_PROTECTION_SEAL, false, 8);
  another_hop();
  reflected();
  impossible_hellos();
  another_version();
  garbage();
  for (size_t limit = 0; limit < 300; limit += 7) cut_and_changed(limit);
  more_after_the_end();
  more_than_a_hello(false);
  more_than_a_hello(true);
  a_certificate_in_place_of_the_key();
  typed_keys();
  rd_handshake_destroy(NULL);
  further_lanes();
  return test_end("handshake");
}
