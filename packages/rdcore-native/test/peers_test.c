// SPDX-License-Identifier: Apache-2.0
// Each loop against a peer that holds the key and breaks the rules: it ends in words, and nothing is committed.
#include "hand_peer.h"
#include "recv_loop.h"
#include "script_control.h"
#include "send_loop.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLOTS 4u
#define SLOT_BYTES 16384u // of the receiver under test, with a buffer of 64 KiB

static char folder[] = "/tmp/rd-peers-XXXXXX";
static char source_path[64], sink_path[64];
static struct rd_error error;

// The next frame of this type, past others; false when the connection ends before it.
static bool await(struct rd_connection *connection, enum rd_frame_type type, struct rd_arrival *arrival) {
  for (int64_t until_ms = rd_now_ms() + WAIT_MS; rd_now_ms() < until_ms;) {
    struct rd_error ignored;
    if (!rd_connection_flush(connection, &ignored)) return false;
    int received = rd_connection_receive(connection, arrival, &ignored);
    if (received < 0) return false;
    if (received == 0)
      rd_wait_fd(rd_connection_poll_fd(connection), rd_connection_poll_events(connection), 100);
    else if (arrival->frame.type == type)
      return true;
    else
      rd_connection_give_back(connection, &arrival->message);
  }
  return CHECK(false);
}

static void say_end(struct rd_connection *connection, uint64_t offset, unsigned char digest_byte) {
  struct rd_end end = {.producer_status = 0};
  unsigned char payload[RD_END_BYTES];
  memset(end.digest, digest_byte, sizeof end.digest);
  rd_end_encode(&end, payload);
  say(connection, RD_FRAME_END, offset, payload, sizeof payload);
}

static void say_ack(struct rd_connection *connection, uint64_t offset, uint64_t frames) {
  unsigned char payload[RD_ACK_BYTES];
  rd_ack_encode(frames, payload);
  say(connection, RD_FRAME_ACK, offset, payload, sizeof payload);
}

// Senders that break the rules -------------------------------------------------------------------------------------

static void wrong_offset(struct rd_connection *connection) {
  say(connection, RD_FRAME_DATA, 1, "x", 1);
}

static void repeated_data(struct rd_connection *connection) {
  say(connection, RD_FRAME_DATA, 0, "abc", 3);
  say(connection, RD_FRAME_DATA, 0, "abc", 3);
}

static void data_after_end(struct rd_connection *connection) {
  say_end(connection, 0, 0);
  say(connection, RD_FRAME_DATA, 0, "x", 1);
}

static void short_count(struct rd_connection *connection) {
  say(connection, RD_FRAME_DATA, 0, "abc", 3);
  say_end(connection, 2, 0);
}

static void wrong_digest(struct rd_connection *connection) {
  say(connection, RD_FRAME_DATA, 0, "abc", 3);
  say_end(connection, 3, 0x5a);
}

static void early_bye(struct rd_connection *connection) {
  say(connection, RD_FRAME_BYE, 0, NULL, 0);
}

static void receivers_frame(struct rd_connection *connection) {
  say(connection, RD_FRAME_DONE, 0, NULL, 0);
}

static void late_handshake(struct rd_connection *connection) {
  say(connection, RD_FRAME_HANDSHAKE, 0, "x", 1);
}

static void too_much(struct rd_connection *connection) {
  for (unsigned i = 0; i < 2 * SLOTS + 4; i++) say(connection, RD_FRAME_DATA, i, "x", 1);
}

static void large_frame(struct rd_connection *connection) {
  static unsigned char bytes[SLOT_BYTES + 1];
  say(connection, RD_FRAME_DATA, 0, bytes, sizeof bytes);
}

static enum rd_code receive_from(void (*misbehave)(struct rd_connection *), bool has_sink) {
  struct rd_transport *ends[2];
  struct script receiver;
  struct rd_arrival arrival;
  REQUIRE(rd_mem_pair(NULL, ends, &error));
  script_init(&receiver, rd_recv_loop);
  script_add(&receiver, RD_ORDER_OPEN)->settings = script_settings(RD_ENCRYPT_NEVER, SLOTS * SLOT_BYTES);
  if (has_sink) strcpy(script_add(&receiver, RD_ORDER_FILE)->path, sink_path);
  script_add(&receiver, RD_ORDER_ADOPT)->transport = ends[1];
  script_start(&receiver);
  struct rd_connection *connection = shake_hands(ends[0], RD_ROLE_SENDER, (struct rd_hello){0});
  say(connection, RD_FRAME_PING, 0, NULL, 0);
  misbehave(connection);
  // It says why before it goes.
  struct rd_abort said = {.code = RD_CODE_OK};
  if (CHECK(await(connection, RD_FRAME_ABORT, &arrival)))
    CHECK(rd_abort_decode(arrival.payload, arrival.bytes, &said, &error));
  rd_connection_destroy(connection);
  script_join(&receiver);
  CHECK(said.code == receiver.code);
  CHECK(!receiver.ended);
  CHECK(access(sink_path, F_OK) < 0);
  return receiver.code;
}

static void test_senders(void) {
  static void (*const senders[])(struct rd_connection *) = {
      wrong_offset, repeated_data,   data_after_end, short_count, wrong_digest,
      early_bye,    receivers_frame, late_handshake, large_frame,
  };
  for (size_t i = 0; i < sizeof senders / sizeof senders[0]; i++)
    CHECK(receive_from(senders[i], true) == RD_CODE_DATA_DAMAGED);
  // Nothing is consumed while there is no sink.
  CHECK(receive_from(too_much, false) == RD_CODE_DATA_DAMAGED);
}

// Receivers that break the rules -----------------------------------------------------------------------------------

static void early_done(struct rd_connection *connection) {
  say(connection, RD_FRAME_DONE, 0, NULL, 0);
}

static void ack_beyond(struct rd_connection *connection) {
  struct rd_arrival arrival;
  CHECK(await(connection, RD_FRAME_DATA, &arrival));
  say_ack(connection, 1u << 30, 1);
}

static void ack_of_too_many(struct rd_connection *connection) {
  struct rd_arrival arrival;
  CHECK(await(connection, RD_FRAME_DATA, &arrival));
  say_ack(connection, 0, 1000);
}

static void ack_backwards(struct rd_connection *connection) {
  struct rd_arrival arrival;
  CHECK(await(connection, RD_FRAME_DATA, &arrival));
  say_ack(connection, 1, 1);
  say_ack(connection, 0, 1);
}

static void senders_frame(struct rd_connection *connection) {
  say(connection, RD_FRAME_DATA, 0, "x", 1);
}

static void wrong_done(struct rd_connection *connection) {
  struct rd_arrival arrival;
  CHECK(await(connection, RD_FRAME_END, &arrival));
  say(connection, RD_FRAME_DONE, arrival.frame.offset - 1, NULL, 0);
}

static enum rd_code send_to(void (*misbehave)(struct rd_connection *)) {
  struct rd_transport *ends[2];
  struct script sender;
  struct rd_arrival arrival;
  REQUIRE(rd_mem_pair(NULL, ends, &error));
  script_init(&sender, rd_send_loop);
  script_add(&sender, RD_ORDER_OPEN)->settings = script_settings(RD_ENCRYPT_NEVER, 64 << 10);
  strcpy(script_add(&sender, RD_ORDER_FILE)->path, source_path);
  struct rd_order *adopt = script_add(&sender, RD_ORDER_ADOPT);
  adopt->transport = ends[0];
  adopt->dialler = true;
  script_add(&sender, RD_ORDER_COMMIT);
  script_start(&sender);
  struct rd_connection *connection =
      shake_hands(ends[1], RD_ROLE_RECEIVER, (struct rd_hello){.slots = SLOTS, .slot_bytes = SLOT_BYTES});
  misbehave(connection);
  CHECK(await(connection, RD_FRAME_ABORT, &arrival));
  rd_connection_destroy(connection);
  script_join(&sender);
  return sender.code;
}

static void test_receivers(void) {
  static void (*const receivers[])(struct rd_connection *) = {
      early_done, ack_beyond, ack_of_too_many, ack_backwards, senders_frame, wrong_done,
  };
  for (size_t i = 0; i < sizeof receivers / sizeof receivers[0]; i++)
    CHECK(send_to(receivers[i]) == RD_CODE_DATA_DAMAGED);
}

int main(void) {
  REQUIRE(mkdtemp(folder) != NULL);
  snprintf(source_path, sizeof source_path, "%s/source", folder);
  snprintf(sink_path, sizeof sink_path, "%s/sink", folder);
  int fd = open(source_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0 && rd_write_all(fd, "some bytes", 10));
  close(fd);
  test_senders();
  test_receivers();
  unlink(source_path);
  CHECK(rmdir(folder) == 0); // nothing was left behind
  return test_end("peers");
}
