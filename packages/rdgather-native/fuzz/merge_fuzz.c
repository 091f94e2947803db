// SPDX-License-Identifier: Apache-2.0
// Fuzzes the merging of several inputs: pieces of lines, long ones, and ends of inputs, in any order.
// The low bits of every byte, except for ends of lines, and the label identify the input. So the output can be taken
// apart: each line belongs to one input, and each input's lines are complete and in order.
#include "base/cleanup.h"
#include "base/io.h"
#include "fuzz.h"
#include "gather/merge.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define INPUTS 4u
#define FIRST_FD 500 // above the fuzzer's own descriptors
#define PIECES_MAX 200u
#define RUN_BYTES 60000u // fits in a pipe
#define WRITTEN_MAX_BYTES (3u << 20)
#define YIELDS_MAX 200

struct buffer {
  char *bytes;
  size_t count, capacity;
};

// The inputs of a merge, and the expected outputs.
struct world {
  struct fuzz_input input;
  int in_fds[INPUTS];
  struct buffer expected[INPUTS];
  bool in_line[INPUTS];
  size_t written;
  bool by_host, is_labelled;
  atomic_bool is_over;
};

static void open_inputs(struct world *world);
static void *feed(void *context);
static void feed_piece(struct world *world, char *text);
static void expect(struct world *world, unsigned number, const char *text, size_t count);
static void expect_end(struct world *world, unsigned number);
static void settle(struct world *world, int fd);
static void check(struct world *world, int out_fd);
static void check_lines(struct world *world, const char *bytes, size_t count);
static const char *take_line(const char *bytes, const char *end);
static void add(struct buffer *buffer, const char *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const labels[INPUTS] = {"@: ", "A: ", "B: ", "C: "};
  struct world world = {.input = {data, size}};
  uint8_t how = fuzz_u8(&world.input);
  world.by_host = how & 1;
  world.is_labelled = how & 2;
  RD_AUTO_CLOSE int out_fd = memfd_create("merged", MFD_CLOEXEC);
  FUZZ_REQUIRE(out_fd >= 0);
  open_inputs(&world);
  pthread_t thread;
  FUZZ_REQUIRE(pthread_create(&thread, NULL, feed, &world) == 0);
  struct rd_error error;
  bool is_good = rd_merge(&(struct rd_merge_settings){.by_host = world.by_host,
                                                      .first_fd = FIRST_FD,
                                                      .count = INPUTS,
                                                      .labels = world.is_labelled ? labels : NULL,
                                                      .out_fd = out_fd},
                          &error);
  atomic_store(&world.is_over, true);
  pthread_join(thread, NULL);
  FUZZ_REQUIRE(is_good);
  for (unsigned i = 0; i < INPUTS; i++) FUZZ_REQUIRE(fcntl(FIRST_FD + (int)i, F_GETFD) < 0);
  check(&world, out_fd);
  for (unsigned i = 0; i < INPUTS; i++) free(world.expected[i].bytes);
  return 0;
}

static void open_inputs(struct world *world) {
  for (unsigned i = 0; i < INPUTS; i++) {
    int ends[2];
    FUZZ_REQUIRE(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    FUZZ_REQUIRE(dup3(ends[0], FIRST_FD + (int)i, O_CLOEXEC) == FIRST_FD + (int)i);
    close(ends[0]);
    world->in_fds[i] = ends[1];
  }
}

static void *feed(void *context) {
  struct world *world = context;
  char *text = malloc(RUN_BYTES);
  FUZZ_REQUIRE(text != NULL);
  for (unsigned i = 0; i < PIECES_MAX && world->input.left > 0; i++) feed_piece(world, text);
  for (unsigned i = 0; i < INPUTS; i++) expect_end(world, i);
  free(text);
  return NULL;
}

// An input whose lines wait for another input's only takes as much as its pipe can hold: the rest of the piece is
// dropped.
static void feed_piece(struct world *world, char *text) {
  uint8_t how = fuzz_u8(&world->input);
  unsigned number = how % INPUTS;
  int fd = world->in_fds[number];
  const uint8_t *bytes;
  size_t count = fuzz_take(&world->input, how >> 4, &bytes);
  if ((how & 12) == 12) expect_end(world, number);
  if (fd < 0 || (how & 12) == 12 || count == 0 || world->written > WRITTEN_MAX_BYTES) return;
  for (size_t i = 0; i < count; i++) text[i] = bytes[i] == '\n' ? '\n' : (char)((bytes[i] & ~3u) | number);
  if ((how & 12) == 8) { // a long line
    memset(text, '@' + (int)number, RUN_BYTES);
    count = RUN_BYTES;
  }
  ssize_t written = write(fd, text, count);
  if (written > 0) expect(world, number, text, (size_t)written);
  if ((how & 12) != 4) settle(world, fd);
}

static void expect(struct world *world, unsigned number, const char *text, size_t count) {
  static const char *const labels[INPUTS] = {"@: ", "A: ", "B: ", "C: "};
  for (const char *end = text + count; text < end;) {
    const char *next = take_line(text, end);
    if (world->is_labelled && !world->in_line[number]) add(&world->expected[number], labels[number], 3);
    add(&world->expected[number], text, (size_t)(next - text));
    world->in_line[number] = next[-1] != '\n';
    text = next;
  }
  world->written += count;
}

static void expect_end(struct world *world, unsigned number) {
  bool ends_line = world->in_line[number] && (!world->by_host || world->is_labelled);
  if (world->in_fds[number] < 0) return;
  if (ends_line) add(&world->expected[number], "\n", 1);
  rd_cleanup_fd(&world->in_fds[number]);
}

// Waits until the piece was read, or briefly.
static void settle(struct world *world, int fd) {
  int waiting = 1;
  for (int i = 0; i < YIELDS_MAX && waiting > 0 && !atomic_load(&world->is_over); i++) {
    sched_yield();
    FUZZ_REQUIRE(ioctl(fd, FIONREAD, &waiting) == 0);
  }
}

static void check(struct world *world, int out_fd) {
  off_t count = lseek(out_fd, 0, SEEK_END);
  size_t all = 0;
  for (unsigned i = 0; i < INPUTS; i++) all += world->expected[i].count;
  FUZZ_REQUIRE(count >= 0 && (size_t)count == all);
  if (count == 0) return;
  char *bytes = mmap(NULL, all, PROT_READ, MAP_PRIVATE, out_fd, 0);
  FUZZ_REQUIRE(bytes != MAP_FAILED);
  const char *next = bytes;
  for (unsigned i = 0; i < INPUTS && world->by_host; i++) {
    const struct buffer *expected = &world->expected[i];
    FUZZ_REQUIRE(expected->count == 0 || memcmp(next, expected->bytes, expected->count) == 0);
    next += expected->count;
  }
  if (!world->by_host) check_lines(world, bytes, all);
  munmap(bytes, all);
}

// An empty line without a label may belong to any input.
static void check_lines(struct world *world, const char *bytes, size_t count) {
  size_t places[INPUTS] = {0};
  for (const char *line = bytes, *end = bytes + count; line < end; line = take_line(line, end)) {
    if (*line == '\n') continue;
    const struct buffer *expected = &world->expected[*line & 3];
    size_t *place = &places[*line & 3], line_bytes = (size_t)(take_line(line, end) - line);
    while (*place < expected->count && expected->bytes[*place] == '\n') ++*place;
    FUZZ_REQUIRE(line_bytes <= expected->count - *place);
    FUZZ_REQUIRE(memcmp(line, expected->bytes + *place, line_bytes) == 0);
    *place += line_bytes;
  }
  for (unsigned i = 0; i < INPUTS; i++)
    for (size_t at = places[i]; at < world->expected[i].count; at++) FUZZ_REQUIRE(world->expected[i].bytes[at] == '\n');
}

// Returns the position after the end of the line, or after the last byte.
static const char *take_line(const char *bytes, const char *end) {
  const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
  return newline != NULL ? newline + 1 : end;
}

static void add(struct buffer *buffer, const char *bytes, size_t count) {
  if (buffer->count + count > buffer->capacity) {
    buffer->capacity = 2 * (buffer->count + count);
    buffer->bytes = realloc(buffer->bytes, buffer->capacity);
    FUZZ_REQUIRE(buffer->bytes != NULL);
  }
  memcpy(buffer->bytes + buffer->count, bytes, count);
  buffer->count += count;
}
