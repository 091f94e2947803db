// SPDX-License-Identifier: Apache-2.0
#include "source/reader.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/worker.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#define READ_MAX_BYTES (1u << 20)

struct rd_reader {
  struct rd_source *source;
  struct rd_ring *ring;
  struct rd_stream_check *check; // used by the side that reads: owner or thread; NULL: not wanted
  bool has_thread;               // the thread reads; otherwise the owner does
  struct rd_worker worker;
  atomic_bool stop;
  int event_fd;
  atomic_bool news_expected;
  atomic_int state;      // enum rd_reader_state
  struct rd_error error; // set before `state` is RD_READER_FAILED
};

static bool start_thread(struct rd_reader *reader, struct rd_error *error);
static void *read_all(void *context);
static ssize_t read_some(struct rd_reader *reader);
static void set_state(struct rd_reader *reader, ssize_t got);
static void free_reader(struct rd_reader *reader);

struct rd_reader *rd_reader_create(struct rd_source *source, struct rd_ring *ring, struct rd_stream_check *check,
                                   struct rd_error *error) {
  struct rd_reader *reader = rd_memory_new(1, sizeof *reader);
  reader->source = source;
  reader->ring = ring;
  reader->check = check;
  reader->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (reader->event_fd < 0) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create an event descriptor");
  if (reader->event_fd >= 0 && (rd_source_poll_fd(source) >= 0 || start_thread(reader, error))) return reader;
  free_reader(reader);
  return NULL;
}

bool rd_reader_destroy(struct rd_reader *reader) {
  if (reader == NULL) return true;
  atomic_store(&reader->stop, true);
  rd_ring_stop(reader->ring);
  if (!rd_worker_stop(&reader->worker)) return false;
  free_reader(reader);
  return true;
}

int rd_reader_poll_fd(const struct rd_reader *reader) {
  if (reader->has_thread) return reader->event_fd;
  return rd_ring_is_full(reader->ring) ? -1 : rd_source_poll_fd(reader->source);
}

bool rd_reader_expect_news(struct rd_reader *reader, uint64_t filled) {
  if (!reader->has_thread) return true;
  atomic_store(&reader->news_expected, true);
  // The thread fills the ring and then reads the flag; the loop sets the flag and then checks the ring.
  bool news = rd_ring_filled(reader->ring) > filled || atomic_load(&reader->state) != RD_READER_READING;
  return !news;
}

void rd_reader_woken(struct rd_reader *reader) {
  eventfd_t ignored;
  if (reader->has_thread) {
    eventfd_read(reader->event_fd, &ignored);
    return;
  }
  ssize_t got = rd_ring_is_full(reader->ring) ? -1 : read_some(reader);
  if (got >= 0 || reader->error.code != RD_CODE_OK) set_state(reader, got);
}

enum rd_reader_state rd_reader_state(const struct rd_reader *reader, struct rd_error *error) {
  enum rd_reader_state state = (enum rd_reader_state)atomic_load(&reader->state);
  if (state == RD_READER_FAILED) *error = reader->error;
  return state;
}

static bool start_thread(struct rd_reader *reader, struct rd_error *error) {
  reader->has_thread = true; // must be set before the thread reads it
  return rd_worker_start(&reader->worker, read_all, reader, error);
}

static void *read_all(void *context) {
  struct rd_reader *reader = context;
  ssize_t got;
  do {
    got = read_some(reader);
    set_state(reader, got);
    if (atomic_exchange(&reader->news_expected, false)) eventfd_write(reader->event_fd, 1);
  } while (got > 0);
  return NULL;
}

// Like read(), but only the thread blocks.
static ssize_t read_some(struct rd_reader *reader) {
  unsigned char *space;
  size_t most = rd_ring_reserve(reader->ring, READ_MAX_BYTES, &space);
  if (most == 0) return 0; // the ring was stopped
  ssize_t got = reader->has_thread ? rd_source_read(reader->source, space, most, &reader->stop, &reader->error)
                                   : rd_source_read_now(reader->source, space, most, &reader->error);
  if (got <= 0) return got;
  if (reader->check != NULL) rd_stream_check_update(reader->check, space, (size_t)got);
  rd_ring_fill(reader->ring, (size_t)got);
  return got;
}

static void set_state(struct rd_reader *reader, ssize_t got) {
  if (got <= 0) atomic_store(&reader->state, (int)(got == 0 ? RD_READER_AT_END : RD_READER_FAILED));
}

static void free_reader(struct rd_reader *reader) {
  rd_cleanup_fd(&reader->event_fd);
  free(reader);
}
