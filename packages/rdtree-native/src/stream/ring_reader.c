// SPDX-License-Identifier: Apache-2.0
#include "stream/ring_reader.h"

#include "base/io.h"
#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#define HOLDS 64u
// Each release may wake rdrecv, which can then write that much.
#define RELEASED_AT_ONCE_BYTES (256u << 10)

struct rd_ring_hold {
  struct rd_ring_reader *reader;
  uint64_t begin; // stream offset
  bool is_over;
};

struct rd_ring_reader {
  struct rd_shared_ring *shared;
  struct rd_ring *ring; // NULL: not made so far
  int fd;
  bool has_ended;
  uint64_t at; // stream offset of the next byte; changed with the lock held
  pthread_mutex_t lock;
  struct rd_ring_hold holds[HOLDS]; // [first, first + count), in the order of the stream
  unsigned first, count;
};

static size_t ready(const struct rd_ring_reader *reader);
static bool wait_for_news(struct rd_ring_reader *reader, size_t count, struct rd_error *error);
static bool map(struct rd_ring_reader *reader, struct rd_error *error);
static void release(struct rd_ring_reader *reader, size_t least_bytes);

struct rd_ring_reader *rd_ring_reader_create(struct rd_shared_ring *shared, int fd) {
  struct rd_ring_reader *reader = rd_memory_new(1, sizeof *reader);
  reader->shared = shared;
  reader->fd = fd;
  pthread_mutex_init(&reader->lock, NULL);
  return reader;
}

void rd_ring_reader_destroy(struct rd_ring_reader *reader) {
  if (reader == NULL) return;
  pthread_mutex_destroy(&reader->lock);
  free(reader);
}

ssize_t rd_ring_reader_wait(struct rd_ring_reader *reader, size_t count, const unsigned char **bytes,
                            struct rd_error *error) {
  while (ready(reader) < count && !reader->has_ended)
    if (!wait_for_news(reader, count, error)) return -1;
  size_t here = ready(reader);
  if (here > 0) *bytes = rd_shared_ring_at(reader->shared, reader->at);
  return (ssize_t)(here < count ? here : count);
}

void rd_ring_reader_skip(struct rd_ring_reader *reader, size_t count) {
  pthread_mutex_lock(&reader->lock);
  reader->at += count;
  release(reader, RELEASED_AT_ONCE_BYTES);
  pthread_mutex_unlock(&reader->lock);
}

struct rd_ring_hold *rd_ring_reader_hold(struct rd_ring_reader *reader, size_t count) {
  struct rd_ring_hold *hold = NULL;
  pthread_mutex_lock(&reader->lock);
  if (reader->count < HOLDS) {
    hold = &reader->holds[(reader->first + reader->count++) % HOLDS];
    *hold = (struct rd_ring_hold){.reader = reader, .begin = reader->at};
    reader->at += count;
  }
  pthread_mutex_unlock(&reader->lock);
  return hold;
}

void rd_ring_hold_give_back(struct rd_ring_hold *hold) {
  struct rd_ring_reader *reader = hold->reader;
  pthread_mutex_lock(&reader->lock);
  hold->is_over = true;
  for (; reader->count > 0 && reader->holds[reader->first].is_over; reader->count--)
    reader->first = (reader->first + 1) % HOLDS;
  release(reader, RELEASED_AT_ONCE_BYTES);
  pthread_mutex_unlock(&reader->lock);
}

static size_t ready(const struct rd_ring_reader *reader) {
  size_t capacity;
  if (reader->ring == NULL) return 0;
  (void)rd_ring_memory(reader->ring, &capacity);
  uint64_t here = rd_ring_filled(reader->ring) - reader->at; // as rdrecv says
  return here < capacity ? (size_t)here : capacity;
}

// Bytes that were put into the ring before the end of the pipe are read first. A signal may have replaced the pipe
// (stop_signals.h).
static bool wait_for_news(struct rd_ring_reader *reader, size_t count, struct rd_error *error) {
  if (!map(reader, error)) return false;
  pthread_mutex_lock(&reader->lock);
  if (reader->ring != NULL) release(reader, 1);
  pthread_mutex_unlock(&reader->lock);
  rd_shared_ring_expect_news(reader->shared);
  struct pollfd news[] = {{.fd = rd_shared_ring_poll_fd(reader->shared), .events = POLLIN},
                          {.fd = reader->fd, .events = POLLIN}};
  if (ready(reader) >= count) return true;
  if (poll(news, 2, -1) < 0 && errno != EINTR) {
    rd_error_set_errno(error, RD_CODE_SOURCE_UNREADABLE, "cannot read from the program before this one of the copy");
    return false;
  }
  if (news[0].revents != 0) rd_shared_ring_woken(reader->shared);
  if (news[1].revents == 0) return true;
  reader->has_ended = true;
  return map(reader, error);
}

// Returns false if the ring cannot be used. There may be none so far.
static bool map(struct rd_ring_reader *reader, struct rd_error *error) {
  error->code = RD_CODE_OK;
  if (reader->ring == NULL) reader->ring = rd_shared_ring_get(reader->shared, error);
  return error->code == RD_CODE_OK;
}

// Gives the bytes before all holds back to rdrecv, if there are so many.
static void release(struct rd_ring_reader *reader, size_t least_bytes) {
  uint64_t end = reader->count > 0 ? reader->holds[reader->first].begin : reader->at;
  if (end < rd_ring_released(reader->ring) + least_bytes) return;
  rd_ring_release(reader->ring, end);
  rd_shared_ring_tell(reader->shared);
}
