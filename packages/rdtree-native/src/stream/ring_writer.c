// SPDX-License-Identifier: Apache-2.0
#include "stream/ring_writer.h"

#include "base/io.h"
#include "base/memory.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

struct rd_ring_writer {
  struct rd_shared_ring *shared;
  struct rd_ring *ring;      // NULL: rdsend has no connection so far
  uint64_t filled, reserved; // stream offsets
};

static bool wait_for(struct rd_ring_writer *writer, size_t count, struct rd_error *error);
static size_t room_of(const struct rd_ring_writer *writer);
static bool is_ready(struct rd_ring_writer *writer, size_t count, struct rd_error *error);

struct rd_ring_writer *rd_ring_writer_create(struct rd_shared_ring *shared) {
  struct rd_ring_writer *writer = rd_memory_new(1, sizeof *writer);
  writer->shared = shared;
  return writer;
}

void rd_ring_writer_destroy(struct rd_ring_writer *writer) {
  free(writer);
}

bool rd_ring_writer_put(struct rd_ring_writer *writer, const unsigned char *bytes, size_t count,
                        struct rd_error *error) {
  while (count > 0) {
    if (!wait_for(writer, 1, error)) return false;
    size_t room = room_of(writer), part = room < count ? room : count;
    memcpy(rd_shared_ring_at(writer->shared, writer->filled), bytes, part);
    writer->reserved += part;
    rd_ring_writer_fill(writer, part);
    bytes += part;
    count -= part;
  }
  return true;
}

unsigned char *rd_ring_writer_reserve(struct rd_ring_writer *writer, size_t count, struct rd_error *error) {
  bool may_wait = writer->reserved == writer->filled;
  error->code = RD_CODE_OK;
  if (may_wait ? !wait_for(writer, count, error) : !is_ready(writer, count, error)) return NULL;
  unsigned char *space = rd_shared_ring_at(writer->shared, writer->reserved);
  writer->reserved += count;
  return space;
}

uint64_t rd_ring_writer_end(const struct rd_ring_writer *writer) {
  return writer->reserved;
}

void rd_ring_writer_fill(struct rd_ring_writer *writer, size_t count) {
  writer->filled += count;
  rd_ring_fill(writer->ring, count);
  rd_shared_ring_tell(writer->shared);
}

void rd_ring_writer_cancel(struct rd_ring_writer *writer) {
  writer->reserved = writer->filled;
}

static bool wait_for(struct rd_ring_writer *writer, size_t count, struct rd_error *error) {
  while (!is_ready(writer, count, error)) {
    if (error->code != RD_CODE_OK) return false;
    rd_shared_ring_expect_news(writer->shared);
    if (is_ready(writer, count, error)) return true;
    int bell_fd = rd_shared_ring_poll_fd(writer->shared);
    if (bell_fd < 0) {
      rd_error_set(error, RD_CODE_CLOSED, "the next program of the copy is gone");
      return false;
    }
    (void)rd_wait_fd(bell_fd, POLLIN, -1);
    rd_shared_ring_woken(writer->shared);
  }
  return true;
}

static size_t room_of(const struct rd_ring_writer *writer) {
  size_t room = rd_ring_room(writer->ring), reserved = (size_t)(writer->reserved - writer->filled);
  return room > reserved ? room - reserved : 0;
}

// Returns false with an error if the ring cannot be used.
static bool is_ready(struct rd_ring_writer *writer, size_t count, struct rd_error *error) {
  error->code = RD_CODE_OK;
  if (writer->ring == NULL) writer->ring = rd_shared_ring_get(writer->shared, error);
  return writer->ring != NULL && room_of(writer) >= count;
}
