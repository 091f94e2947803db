// SPDX-License-Identifier: Apache-2.0
// Tests of the sending and the receiving loop against each other over memory.
// Every stream arrives completely or not at all, whatever the transport does.
#include "memory_transport.h"
#include "recv_loop.h"
#include "script_control.h"
#include "send_loop.h"
#include "stream_files.h"

struct stream {
  enum rd_encrypt encrypt;
  size_t buffer_bytes;
  size_t bytes;
  struct rd_mem_faults faults;
  bool faults_back; // in the direction from the receiver
};

static const enum rd_encrypt encrypts[] = {RD_ENCRYPT_NEVER, RD_ENCRYPT_AUTH, RD_ENCRYPT_ALWAYS};
#define ENCRYPTS (sizeof encrypts / sizeof encrypts[0])

// Settings of the streams that follow.
static int compress_level;
static unsigned jobs;

struct outcome {
  enum rd_code sent, received;
  bool arrived; // the sink contains the stream
  bool exists;  // the sink exists
};

static void command(struct script *script, const struct stream *stream, struct rd_transport *transport,
                    const char *path) {
  struct rd_settings *settings = &script_add(script, RD_COMMAND_OPEN)->settings;
  *settings = script_settings(stream->encrypt, stream->buffer_bytes);
  settings->compress = compress_level;
  settings->jobs = jobs;
  strcpy(script_add(script, RD_COMMAND_FILE)->path, path);
  struct rd_command *adopt = script_add(script, RD_COMMAND_ADOPT);
  adopt->transport = transport;
  adopt->is_dialer = script->loop == rd_send_loop;
}

static struct outcome carry(const struct stream *stream) {
  struct rd_transport *ends[2];
  struct rd_error error;
  struct script sender, receiver;
  struct stat status;
  REQUIRE(rd_mem_pair(&stream->faults, ends, &error));
  unlink(sink_path);
  if (compress_level > 0)
    write_mixed_source(stream->bytes);
  else
    write_source(stream->bytes);
  script_init(&sender, rd_send_loop);
  script_init(&receiver, rd_recv_loop);
  command(&sender, stream, ends[stream->faults_back ? 1 : 0], source_path);
  command(&receiver, stream, ends[stream->faults_back ? 0 : 1], sink_path);
  script_add(&sender, RD_COMMAND_COMMIT)->status = 42;
  script_start(&receiver);
  script_start(&sender);
  script_join(&sender);
  script_join(&receiver);
  if (receiver.code == RD_CODE_OK) CHECK(receiver.ended && receiver.status == 42 && receiver.bytes == stream->bytes);
  return (struct outcome){sender.code, receiver.code, same_files(), stat(sink_path, &status) == 0};
}

static void expect_whole(struct stream stream) {
  struct outcome outcome = carry(&stream);
  CHECK(outcome.sent == RD_CODE_OK);
  CHECK(outcome.received == RD_CODE_OK);
  CHECK(outcome.arrived);
}

static void test_sizes(void) {
  static const size_t sizes[] = {0, 1, 65535, 65536, 65537, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5000001};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    for (size_t way = 0; way < ENCRYPTS; way++)
      expect_whole((struct stream){encrypts[way], 8 << 20, sizes[i], {0}, false});
  }
}

static void test_windows(void) {
  static const size_t buffers[] = {64 << 10, 100001, 1 << 20, 3 << 20};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
    for (size_t way = 0; way < ENCRYPTS; way++)
      expect_whole((struct stream){encrypts[way], buffers[i], 3000000, {0}, false});
  }
}

static void test_starvation(void) {
  for (unsigned every = 2; every <= 4; every++)
    for (unsigned queue = 1; queue <= 2; queue++)
      for (int back = 0; back < 2; back++) {
        struct rd_mem_faults faults = {.refuse_every = every, .queue_messages = queue};
        for (size_t way = 0; way < ENCRYPTS; way++)
          expect_whole((struct stream){encrypts[way], 64 << 10, 1000000, faults, back});
      }
}

// A device that may lock little memory: the buffers for sending and receiving fit, or there is no connection but an
// error message.
static void test_little_memory(void) {
  static const size_t limits[] = {9 << 20, 6 << 20, 1 << 20, 200 << 10, 150 << 10};
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    struct rd_mem_faults faults = {.memory_bytes = limits[i]};
    for (size_t way = 0; way < ENCRYPTS; way++)
      expect_whole((struct stream){encrypts[way], 8 << 20, 3000000, faults, false});
  }
  struct outcome outcome = carry(&(struct stream){RD_ENCRYPT_NEVER, 8 << 20, 1000, {.memory_bytes = 90 << 10}, false});
  CHECK(outcome.sent != RD_CODE_OK && outcome.received != RD_CODE_OK && !outcome.exists);
}

// A fault at each message in turn. Either the message was never reached, or neither end takes the stream for complete
// and there is no file. One case cannot be decided: if only the receiver's last message is lost, its file exists.
static void test_fault(bool corrupts, bool back, enum rd_encrypt encrypt) {
  bool reached = false;
  for (unsigned message = 1; message <= 30; message++) {
    struct rd_mem_faults faults = {.corrupt_message = corrupts ? message : 0, .close_after = corrupts ? 0 : message};
    struct outcome outcome = carry(&(struct stream){encrypt, 64 << 10, 200000, faults, back});
    bool whole = outcome.received == RD_CODE_OK;
    CHECK(whole == outcome.arrived);
    CHECK(whole == outcome.exists);
    CHECK(outcome.sent != RD_CODE_OK || whole);
    reached = reached || outcome.received != RD_CODE_OK;
    if (corrupts && !whole)
      CHECK(outcome.received == RD_CODE_DATA_DAMAGED || outcome.received == RD_CODE_ABORTED ||
            rd_code_is_loss(outcome.received));
  }
  CHECK(reached);
}

// Compression and protection with any number of threads.
static void test_jobs(void) {
  static const unsigned numbers[] = {1, 2, 8};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    jobs = numbers[i];
    for (compress_level = 0; compress_level <= 3; compress_level += 3) {
      test_sizes();
      test_windows();
    }
  }
  compress_level = 1;
  test_starvation();
  test_little_memory();
  for (size_t i = 0; i < 2 * ENCRYPTS; i++) test_fault(i & 1, false, encrypts[i / 2]);
}

int main(void) {
  make_stream_files("loops");
  test_sizes();
  test_windows();
  test_starvation();
  test_little_memory();
  for (size_t i = 0; i < 4 * ENCRYPTS; i++) test_fault(i & 1, i & 2, encrypts[i / 4]);
  test_jobs();
  remove_stream_files();
  return test_end("loops");
}
