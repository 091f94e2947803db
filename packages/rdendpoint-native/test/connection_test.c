// SPDX-License-Identifier: Apache-2.0
// Two connections joined in memory whose DATA is compressed and sealed by threads: which frames overtake DATA, which
// wait for it, and what happens to DATA when the connection ends.
#include "conn/connection.h"

#include "base/io.h"
#include "memory_transport.h"
#include "test.h"

#include <string.h>

enum { SLOTS = 16, SMALL_SLOTS = 40, BLOCK_BYTES = 128 << 10, BLOCKS = 12 };
static const unsigned char key_and_iv[RD_SEAL_KEY_BYTES + RD_SEAL_IV_BYTES] = "a key for tests";
static unsigned char stream[BLOCKS * BLOCK_BYTES];
static struct rd_error error;

struct ends {
  struct rd_connection *sender, *receiver;
};

// Every third block is random.
static void fill_stream(void) {
  uint64_t state = 1;
  for (size_t i = 0; i < sizeof stream; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    unsigned char byte = (unsigned char)(state >> 56);
    stream[i] = i / BLOCK_BYTES % 3 == 2 ? byte : 'a' + byte % 5;
  }
}

static struct rd_connection *make_end(struct rd_transport *transport, bool sends, enum rd_protection protection,
                                      int level, unsigned jobs) {
  struct rd_hello sender = {.features = RD_FEATURE_ZSTD, .epoch = 1}, receiver = sender;
  receiver.slots = SLOTS;
  receiver.small_slots = SMALL_SLOTS;
  receiver.slot_bytes = BLOCK_BYTES;
  struct rd_agreement agreement = {.protection = protection,
                                   .cipher_name = "aes-256-gcm",
                                   .compresses = true,
                                   .lanes = 1,
                                   .mine = sends ? sender : receiver,
                                   .peer = sends ? receiver : sender,
                                   .outgoing = rd_seal_create(false, key_and_iv, 0, &error),
                                   .incoming = rd_seal_create(false, key_and_iv, 0, &error)};
  struct rd_connection_settings settings = {.stall_timeout_ms = WAIT_MS, .compress_level = level, .jobs = jobs};
  struct rd_connection *connection = rd_connection_create(transport, &agreement, &settings, &error);
  REQUIRE(connection != NULL);
  return connection;
}

static struct ends join(enum rd_protection protection, int level, unsigned jobs) {
  struct rd_transport *transports[2];
  const struct rd_mem_faults faults = {.queue_messages = 2 * SLOTS};
  REQUIRE(rd_mem_pair(&faults, transports, &error));
  return (struct ends){make_end(transports[0], true, protection, level, jobs),
                       make_end(transports[1], false, protection, 0, jobs)};
}

static void part(struct ends *ends) {
  rd_connection_destroy(ends->sender);
  rd_connection_destroy(ends->receiver);
}

static int send_block(struct rd_connection *sender, unsigned block) {
  uint64_t offset = (uint64_t)block * BLOCK_BYTES;
  return rd_connection_send(sender, RD_FRAME_DATA, offset, stream + offset, BLOCK_BYTES, &error);
}

// END is not accepted before all DATA is sent, and is not received before all DATA.
static void end_comes_last(enum rd_protection protection, int level, unsigned jobs) {
  struct ends ends = join(protection, level, jobs);
  unsigned sent = 0, received = 0;
  bool end_sent = false, end_received = false;
  struct rd_rx_frame rx_frame, kept[BLOCKS];
  for (int64_t until_ms = rd_now_ms() + WAIT_MS; !end_received && rd_now_ms() < until_ms;) {
    if (sent < BLOCKS && send_block(ends.sender, sent) > 0) sent++;
    const unsigned char end[RD_END_BYTES] = {0};
    if (sent == BLOCKS && !end_sent)
      end_sent = rd_connection_send(ends.sender, RD_FRAME_END, sizeof stream, end, sizeof end, &error) > 0;
    REQUIRE(rd_connection_flush(ends.sender, &error));
    int came;
    while ((came = rd_connection_receive(ends.receiver, &rx_frame, &error)) > 0) {
      end_received = rx_frame.header.type == RD_FRAME_END;
      if (end_received) break;
      REQUIRE(rx_frame.header.type == RD_FRAME_DATA && received < BLOCKS);
      uint64_t offset = (uint64_t)received * BLOCK_BYTES;
      CHECK(rx_frame.header.offset == offset && rx_frame.bytes == BLOCK_BYTES);
      CHECK(memcmp(rx_frame.payload, stream + offset, BLOCK_BYTES) == 0);
      kept[received++] = rx_frame;
      // Like a writer that holds two of them.
      if (received > 2) rd_connection_give_back(ends.receiver, &kept[received - 3]);
    }
    REQUIRE(came >= 0);
  }
  CHECK(end_received && received == BLOCKS);
  part(&ends);
}

// PING overtakes DATA that was sent earlier and is in work. This is visible only if the threads are slower than this
// one, which a single try cannot guarantee.
static bool ping_overtakes(enum rd_protection protection) {
  struct ends ends = join(protection, 19, 1);
  struct rd_rx_frame rx_frame;
  for (unsigned block = 0; block < 3; block++) CHECK(send_block(ends.sender, block) == 1);
  bool in_work = !rd_connection_drained(ends.sender);
  rd_connection_choose(ends.sender);
  int came = rd_connection_receive(ends.receiver, &rx_frame, &error); // handles PING itself
  REQUIRE(came >= 0 && rd_connection_flush(ends.receiver, &error));
  REQUIRE(rd_connection_receive(ends.sender, &rx_frame, &error) == 0);
  bool answered = in_work && came == 0 && rd_connection_rtt_us(ends.sender) > 0;
  part(&ends); // with all frames in work
  return answered;
}

static void keepalive_overtakes(enum rd_protection protection) {
  bool answered = false;
  for (int64_t until_ms = rd_now_ms() + WAIT_MS; !answered && rd_now_ms() < until_ms;)
    answered = ping_overtakes(protection);
  CHECK(answered);
}

// ABORT is the last frame: no DATA follows it.
static void abort_is_last(enum rd_protection protection) {
  struct ends ends = join(protection, 9, 2);
  struct rd_rx_frame rx_frame;
  bool aborted = false;
  for (unsigned block = 0; block < 4; block++) CHECK(send_block(ends.sender, block) == 1);
  (void)rd_connection_send_final(ends.sender, RD_FRAME_ABORT, 0, (const unsigned char *)"\11\0\0\0why", 7, 0, &error);
  rd_connection_destroy(ends.sender);
  for (int came = 1; came > 0;) {
    came = rd_connection_receive(ends.receiver, &rx_frame, &error);
    if (came > 0) aborted = rx_frame.header.type == RD_FRAME_ABORT;
    if (came == 0) came = 1; // still in work
    if (came > 0 && aborted) break;
  }
  CHECK(aborted);
  rd_connection_destroy(ends.receiver);
}

// Like a loop that keeps the bytes that are being written: the connection ends, its memory stays.
static void disconnected_in_work(enum rd_protection protection, unsigned jobs) {
  struct ends ends = join(protection, 1, jobs);
  struct rd_rx_frame first = {0}, next;
  for (unsigned block = 0; block < 6; block++) {
    int64_t until_ms = rd_now_ms() + WAIT_MS;
    while (send_block(ends.sender, block) == 0 && rd_now_ms() < until_ms)
      REQUIRE(rd_connection_flush(ends.sender, &error));
  }
  int64_t until_ms = rd_now_ms() + WAIT_MS;
  while (first.bytes == 0 && rd_now_ms() < until_ms) {
    REQUIRE(rd_connection_flush(ends.sender, &error));
    struct rd_rx_frame rx_frame;
    if (rd_connection_receive(ends.receiver, &rx_frame, &error) > 0) first = rx_frame;
  }
  (void)rd_connection_receive(ends.receiver, &next, &error); // and others are on their way through
  rd_connection_disconnect(ends.receiver);
  CHECK(first.bytes == BLOCK_BYTES && memcmp(first.payload, stream, BLOCK_BYTES) == 0);
  part(&ends);
}

// Small DATA that is not given back leaves the slots to other frames, and later frames are received.
static void small_data_keeps_no_slot(enum rd_protection protection) {
  enum { LARGE = SLOTS / 2, ALL = SLOTS + SMALL_SLOTS };
  struct ends ends = join(protection, 0, 1);
  struct rd_rx_frame kept[ALL];
  unsigned sent = 0, received = 0;
  uint64_t said_bytes = 0, heard_bytes = 0;
  for (int64_t until_ms = rd_now_ms() + WAIT_MS; received < ALL && rd_now_ms() < until_ms;) {
    size_t bytes = sent % 7 == 0 && sent / 7 < LARGE ? BLOCK_BYTES : RD_SMALL_BYTES - sent;
    if (sent < ALL && rd_connection_send(ends.sender, RD_FRAME_DATA, said_bytes, stream + sent, bytes, &error) > 0) {
      said_bytes += bytes;
      sent++;
    }
    REQUIRE(rd_connection_flush(ends.sender, &error));
    int came;
    while (received < ALL && (came = rd_connection_receive(ends.receiver, &kept[received], &error)) > 0) {
      CHECK(kept[received].header.offset == heard_bytes);
      heard_bytes += kept[received].bytes;
      received++;
    }
    REQUIRE(received == ALL || came == 0);
  }
  CHECK(received == ALL);
  for (unsigned i = 0; i < received; i++) CHECK(memcmp(kept[i].payload, stream + i, kept[i].bytes) == 0);
  rd_connection_choose(ends.sender);
  struct rd_rx_frame rx_frame;
  CHECK(rd_connection_receive(ends.receiver, &rx_frame, &error) == 0 && rd_connection_flush(ends.receiver, &error));
  CHECK(rd_connection_receive(ends.sender, &rx_frame, &error) == 0 && rd_connection_rtt_us(ends.sender) > 0);
  rd_connection_give_back(ends.receiver, &kept[1]);
  CHECK(!kept[0].is_small && kept[1].is_small);
  // One for the slot that was given back, then those that large frames did not use.
  unsigned more = 0;
  int came = 1;
  for (; came >= 0 && more <= ALL; more++) {
    REQUIRE(rd_connection_send(ends.sender, RD_FRAME_DATA, said_bytes + more, stream, 1, &error) == 1);
    REQUIRE(rd_connection_flush(ends.sender, &error));
    came = rd_connection_receive(ends.receiver, &rx_frame, &error);
  }
  CHECK(more == 1 + LARGE + 1 && error.code == RD_CODE_DATA_DAMAGED);
  part(&ends);
}

int main(void) {
  fill_stream();
  for (enum rd_protection protection = RD_PROTECTION_NONE; protection <= RD_PROTECTION_SEAL; protection++) {
    for (unsigned jobs = 1; jobs <= 8; jobs++) {
      end_comes_last(protection, 1, jobs);
      end_comes_last(protection, 0, jobs);
      disconnected_in_work(protection, jobs);
    }
    keepalive_overtakes(protection);
    abort_is_last(protection);
    small_data_keeps_no_slot(protection);
  }
  return test_end("connection");
}
