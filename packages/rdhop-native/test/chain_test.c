// SPDX-License-Identifier: Apache-2.0
// Tests of a chain of hosts over memory: the stream is passed on, and a lost host is bypassed.
#include "memory_transport.h"
#include "recv_loop.h"
#include "script_control.h"
#include "send_loop.h"
#include "stream_files.h"

#include <openssl/evp.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>

#define HOSTS 3u // hosts that receive

struct chain {
  enum rd_encrypt encrypt;
  size_t buffer_bytes, bytes;
  bool is_signed;
  unsigned forged; // the host that verifies with another key, by number; 0: none
  unsigned closes; // the host whose consumer is gone, by number; 0: none
  unsigned breaks; // the host to and from which the connections break, by number; 0: none
  unsigned after;  // number of messages before that
};

// A host that receives; `send` passes on the stream, except on the last host.
struct host {
  struct script recv, send;
  char path[96];
  int pipe[2];
};

static struct host hosts[HOSTS + 1]; // [0] only sends
static unsigned char seed[RD_SIGNING_KEY_BYTES], public_key[RD_SIGNING_KEY_BYTES];

static void make_keys(void) {
  memset(seed, 5, sizeof seed);
  EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, sizeof seed);
  size_t length = sizeof public_key;
  REQUIRE(key != NULL && EVP_PKEY_get_raw_public_key(key, public_key, &length) == 1);
  EVP_PKEY_free(key);
}

static void open_end(struct script *script, enum rd_command_type type, const struct chain *chain, unsigned host) {
  struct rd_settings *settings = &script_add(script, type)->settings;
  *settings = script_settings(chain->encrypt, chain->buffer_bytes);
  settings->chain = true;
  if (!chain->is_signed) return;
  bool signs = host == 0;
  settings->signing.role = signs ? RD_SIGNING_SIGNS : RD_SIGNING_VERIFIES;
  memcpy(settings->signing.key, signs ? seed : public_key, sizeof seed);
  if (host > 0 && host == chain->forged) settings->signing.key[0] ^= 1;
}

static void adopt(struct script *script, struct rd_transport *transport) {
  struct rd_command *command = script_add(script, RD_COMMAND_ADOPT);
  command->transport = transport;
  command->is_dialer = script->loop == rd_send_loop;
}

static void join_relay(struct host *host) {
  struct rd_ring_fds sides[2];
  REQUIRE(rd_ring_fds_create(sides, &(struct rd_error){0}));
  script_add(&host->recv, RD_COMMAND_RELAY)->ring_fds = sides[0];
  script_add(&host->send, RD_COMMAND_RELAY)->ring_fds = sides[1];
}

static void open_output(struct host *host, bool is_closed) {
  host->pipe[0] = host->pipe[1] = -1;
  if (!is_closed) {
    strcpy(script_add(&host->recv, RD_COMMAND_FILE)->path, host->path);
    return;
  }
  REQUIRE(pipe2(host->pipe, O_CLOEXEC) == 0);
  close(host->pipe[0]);
  script_add(&host->recv, RD_COMMAND_READY)->fd = host->pipe[1];
}

static void join_hosts(unsigned from, const struct rd_mem_faults *faults) {
  struct rd_transport *ends[2];
  struct rd_error error;
  REQUIRE(rd_mem_pair(faults, ends, &error));
  adopt(&hosts[from].send, ends[0]);
  adopt(&hosts[from + 1].recv, ends[1]);
}

static void await(const atomic_bool *flag, const struct script *script) {
  int64_t until_ms = rd_now_ms() + WAIT_MS;
  while (!*flag && !script->finished && rd_now_ms() < until_ms) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
  CHECK(*flag || script->finished);
}

static void start(const struct chain *chain) {
  write_source(chain->bytes);
  for (unsigned i = 0; i <= HOSTS; i++) {
    struct host *host = &hosts[i];
    *host = (struct host){.pipe = {-1, -1}};
    snprintf(host->path, sizeof host->path, "%s/sink%u", directory, i);
    unlink(host->path);
    if (i > 0) script_init(&host->recv, rd_recv_loop);
    if (i < HOSTS) script_init(&host->send, rd_send_loop);
    if (i > 0) open_end(&host->recv, RD_COMMAND_OPEN, chain, i);
    if (i < HOSTS) open_end(&host->send, RD_COMMAND_OPEN, chain, i);
    if (i > 0 && i < HOSTS) join_relay(host);
    if (i > 0) open_output(host, i == chain->closes);
  }
  for (unsigned i = 0; i < HOSTS; i++) {
    bool breaks = chain->breaks > 0 && (i + 1 == chain->breaks || i == chain->breaks);
    join_hosts(i, &(struct rd_mem_faults){.close_after = breaks ? chain->after : 0});
  }
  for (unsigned i = 0; i <= HOSTS; i++) {
    if (i > 0) script_start(&hosts[i].recv);
    if (i < HOSTS) script_start(&hosts[i].send);
  }
  // Like rdpipe, sends no data before every hop is connected.
  for (unsigned i = 0; i < HOSTS; i++) {
    await(&hosts[i].send.connected, &hosts[i].send);
    await(&hosts[i + 1].recv.connected, &hosts[i + 1].recv);
  }
  strcpy(script_add(&hosts[0].send, RD_COMMAND_FILE)->path, source_path);
  script_add(&hosts[0].send, RD_COMMAND_COMMIT)->status = 42;
  script_wake(&hosts[0].send);
}

static void join_all(void) {
  for (unsigned i = 0; i <= HOSTS; i++) {
    if (i < HOSTS) script_join(&hosts[i].send);
    if (i > 0) script_join(&hosts[i].recv);
    if (hosts[i].pipe[1] >= 0) close(hosts[i].pipe[1]);
  }
}

static bool has_stream(unsigned host) {
  snprintf(sink_path, sizeof sink_path, "%s", hosts[host].path);
  return same_files();
}

static void carry(const struct chain *chain) {
  start(chain);
  join_all();
  for (unsigned i = 0; i < HOSTS; i++) CHECK(hosts[i].send.code == RD_CODE_OK);
  for (unsigned i = 1; i <= HOSTS; i++) {
    CHECK(hosts[i].recv.code == RD_CODE_OK && hosts[i].recv.ended && hosts[i].recv.status == 42);
    CHECK(hosts[i].recv.bytes == chain->bytes);
    CHECK(i == chain->closes || has_stream(i));
  }
}

static void test_whole(void) {
  static const enum rd_encrypt encrypts[] = {RD_ENCRYPT_NEVER, RD_ENCRYPT_AUTH, RD_ENCRYPT_ALWAYS};
  static const size_t sizes[] = {0, 1, 65536, 65537, 1000001, 5000001}, buffers[] = {64 << 10, 100001, 1 << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (size_t j = 0; j < sizeof buffers / sizeof *buffers; j++)
      for (size_t way = 0; way < 3; way++)
        carry(&(struct chain){
            .encrypt = encrypts[way], .buffer_bytes = buffers[j], .bytes = sizes[i], .is_signed = way > 0});
}

// The consumer of one host is gone; the other hosts get everything.
static void test_closed(void) {
  for (unsigned host = 1; host <= HOSTS; host++) {
    struct chain chain = {.buffer_bytes = 64 << 10, .bytes = 3000000, .closes = host};
    if (host < HOSTS) {
      carry(&chain);
      continue;
    }
    start(&chain); // the last host notifies the one before it, which continues without it
    join_all();
    CHECK(hosts[HOSTS].recv.code == RD_CODE_CLOSED && hosts[HOSTS - 1].send.code == RD_CODE_CLOSED);
    CHECK(hosts[HOSTS].recv.closed == 1);
    for (unsigned i = 1; i < HOSTS; i++)
      CHECK(hosts[i].recv.code == RD_CODE_OK && hosts[i].recv.closed == 0 && has_stream(i));
  }
}

// The first host that cannot verify the signature reports the cause, and no file is renamed.
static void test_forged(void) {
  struct chain chain = {.buffer_bytes = 64 << 10, .bytes = 1000000, .is_signed = true, .forged = HOSTS};
  start(&chain);
  await(&hosts[HOSTS].recv.finished, &hosts[HOSTS].recv);
  for (unsigned i = 0; i <= HOSTS; i++) {
    if (i > 0 && i < HOSTS) script_abort(&hosts[i].recv);
    if (i < HOSTS) script_abort(&hosts[i].send);
  }
  join_all();
  CHECK(hosts[HOSTS].recv.code == RD_CODE_DATA_DAMAGED);
  CHECK(strstr(hosts[HOSTS].recv.end.message, "signature") != NULL);
  CHECK(access(hosts[HOSTS].path, F_OK) != 0);
}

// A host is lost at each message in turn: the hosts before and after it are joined, and the stream continues.
static void test_lost(enum rd_encrypt encrypt, unsigned lost) {
  for (unsigned after = 12; after <= 60; after += 3) {
    struct chain chain = {
        .encrypt = encrypt, .buffer_bytes = 64 << 10, .bytes = 1500000, .breaks = lost, .after = after};
    start(&chain);
    struct script *before = &hosts[lost - 1].send, *behind = lost < HOSTS ? &hosts[lost + 1].recv : NULL;
    await(&before->parted, before);
    script_abort(&hosts[lost].recv);
    if (lost < HOSTS) script_abort(&hosts[lost].send);
    if (behind != NULL) {
      struct rd_transport *ends[2];
      struct rd_error error;
      REQUIRE(rd_mem_pair(NULL, ends, &error));
      open_end(behind, RD_COMMAND_REJOIN, &chain, lost + 1);
      open_end(before, RD_COMMAND_REJOIN, &chain, lost - 1);
      adopt(behind, ends[1]);
      adopt(before, ends[0]);
      script_wake(behind);
    } else {
      script_add(before, RD_COMMAND_LAST);
    }
    script_wake(before);
    join_all();
    for (unsigned i = 1; i <= HOSTS; i++)
      if (i != lost) CHECK(hosts[i].recv.code == RD_CODE_OK && has_stream(i));
    for (unsigned i = 0; i < HOSTS; i++)
      if (i != lost) CHECK(hosts[i].send.code == RD_CODE_OK);
  }
}

int main(void) {
  signal(SIGPIPE, SIG_IGN);
  make_keys();
  make_stream_files("chain");
  test_whole();
  test_closed();
  test_forged();
  for (unsigned lost = 1; lost <= HOSTS; lost++) {
    test_lost(RD_ENCRYPT_NEVER, lost);
    test_lost(RD_ENCRYPT_ALWAYS, lost);
  }
  for (unsigned i = 1; i <= HOSTS; i++) unlink(hosts[i].path);
  snprintf(sink_path, sizeof sink_path, "%s/sink", directory);
  remove_stream_files();
  return test_end("chain");
}
