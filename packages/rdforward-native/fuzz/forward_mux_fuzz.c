// SPDX-License-Identifier: Apache-2.0
// Fuzzes the complete multiplexer with a peer's bytes in pieces, while connections open and end.
#include "base/cleanup.h"
#include "base/io.h"
#include "forward/frame.h"
#include "forward/mux.h"
#include "fuzz.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { CLIENTS = 8, YIELDS_MAX = 200, PIECES_MAX = 64, RAW, FRAME, CONNECT, ANSWER, CLOSE, KINDS };

// The other end, and the programs that connect here and are dialed.
struct world {
  struct fuzz_input input;
  int in_fd, out_fd; // the far sides of the multiplexer's pipes
  int clients[CLIENTS];
  atomic_bool is_over;
};

static struct rd_forward_listener listener, server; // the address that it listens on, and the one that it dials
static struct rd_place places[2];

static void begin(void);
static void finish(void);
static void *live(void *context);
static void do_piece(struct world *world);
static void send_frame(struct world *world);
static void take_connection(struct world *world, int fd);
static void settle(struct world *world);
static int lowest_free_fd(void);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (server.socket_count == 0) begin();
  struct world world = {.input = {data, size}};
  for (size_t i = 0; i < CLIENTS; i++) world.clients[i] = -1;
  int before = lowest_free_fd(), in[2], out[2];
  FUZZ_REQUIRE(pipe2(in, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(out, O_CLOEXEC | O_NONBLOCK) == 0);
  world.in_fd = in[1];
  world.out_fd = out[0];
  struct rd_mux_settings settings = {.is_near = fuzz_u8(&world.input) % 2 == 1,
                                     .targets = &places[1],
                                     .target_count = 1,
                                     .listeners = &listener,
                                     .listener_count = 1,
                                     .in_fd = in[0],
                                     .out_fd = out[1],
                                     .signal_fd = -1};
  pthread_t thread;
  struct rd_error error = {0};
  FUZZ_REQUIRE(pthread_create(&thread, NULL, live, &world) == 0);
  enum rd_mux_end end = rd_mux_run(&settings, &error);
  atomic_store(&world.is_over, true);
  pthread_join(thread, NULL);
  FUZZ_REQUIRE(end == RD_MUX_BYE || end == RD_MUX_LOST || error.code == RD_CODE_DATA_DAMAGED);
  rd_cleanup_fd(&in[0]);
  rd_cleanup_fd(&out[0]);
  rd_cleanup_fd(&out[1]);
  FUZZ_REQUIRE(lowest_free_fd() == before); // it has closed every connection
  return 0;
}

static void begin(void) {
  static char directory[] = "/tmp/forward-mux-XXXXXX";
  struct rd_error error;
  signal(SIGPIPE, SIG_IGN);
  FUZZ_REQUIRE(mkdtemp(directory) != NULL);
  snprintf(places[0].address, sizeof places[0].address, "%s/listener", directory);
  snprintf(places[1].address, sizeof places[1].address, "%s/server", directory);
  FUZZ_REQUIRE(rd_forward_listener_open(&listener, &places[0], 0, &error));
  FUZZ_REQUIRE(rd_forward_listener_open(&server, &places[1], 0, &error));
  atexit(finish);
}

static void finish(void) {
  rd_forward_listener_close(&listener);
  rd_forward_listener_close(&server);
  *strrchr(places[0].address, '/') = '\0';
  rmdir(places[0].address);
}

static void *live(void *context) {
  struct world *world = context;
  for (int i = 0; i < PIECES_MAX && world->input.left > 0 && !atomic_load(&world->is_over); i++) {
    do_piece(world);
    settle(world);
  }
  close(world->in_fd);
  for (size_t i = 0; i < CLIENTS; i++) rd_cleanup_fd(&world->clients[i]);
  while (!atomic_load(&world->is_over)) settle(world);
  for (int fd; (fd = accept(server.sockets[0].fd, NULL, NULL)) >= 0;) close(fd);
  for (int fd; (fd = accept(listener.sockets[0].fd, NULL, NULL)) >= 0;) close(fd);
  return NULL;
}

static void do_piece(struct world *world) {
  const uint8_t *bytes;
  int kind = RAW + fuzz_u8(&world->input) % (KINDS - RAW);
  int *client = &world->clients[kind == RAW || kind == FRAME ? 0 : fuzz_u8(&world->input) % CLIENTS];
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (kind == FRAME) send_frame(world);
  if (kind == CLOSE) rd_cleanup_fd(client);
  if (kind == RAW || kind == ANSWER) {
    size_t count = fuzz_take(&world->input, fuzz_u8(&world->input), &bytes);
    (void)!write(kind == RAW ? world->in_fd : *client, bytes, count);
  }
  if (kind != CONNECT) return;
  memcpy(address.sun_path, places[0].address, strlen(places[0].address) + 1);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
    take_connection(world, fd);
  else
    close(fd);
}

// Sends a correctly formed record, which few random bytes are.
static void send_frame(struct world *world) {
  unsigned char record[RD_FORWARD_HEAD_BYTES + 256];
  const uint8_t *bytes;
  uint32_t type = fuzz_u8(&world->input) % (RD_FORWARD_BYE + 2);
  uint64_t stream = fuzz_u8(&world->input) % 8;
  size_t count = fuzz_take(&world->input, fuzz_u8(&world->input), &bytes);
  rd_put_u32(record, (uint32_t)count);
  rd_put_u32(record + 4, type);
  rd_put_u64(record + 8, stream);
  if (count > 0) memcpy(record + RD_FORWARD_HEAD_BYTES, bytes, count);
  (void)!write(world->in_fd, record, RD_FORWARD_HEAD_BYTES + count);
}

static void take_connection(struct world *world, int fd) {
  size_t place = 0;
  while (place < CLIENTS - 1 && world->clients[place] >= 0) place++;
  rd_cleanup_fd(&world->clients[place]);
  world->clients[place] = fd;
}

// Waits until the multiplexer has read the sent bytes, or briefly; takes the bytes that it sends and accepts its dials.
static void settle(struct world *world) {
  unsigned char sink[4096];
  int waiting = 1;
  for (int i = 0; i < YIELDS_MAX && waiting > 0 && !atomic_load(&world->is_over); i++) {
    sched_yield();
    while (read(world->out_fd, sink, sizeof sink) > 0) continue;
    if (ioctl(world->in_fd, FIONREAD, &waiting) < 0) waiting = 0;
  }
  int fd = accept4(server.sockets[0].fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) take_connection(world, fd);
}

static int lowest_free_fd(void) {
  int fd = dup(STDERR_FILENO);
  close(fd);
  return fd;
}
