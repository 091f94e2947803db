// SPDX-License-Identifier: Apache-2.0
#include "forward/streams.h"

#include "base/io.h"
#include "base/memory.h"

#include <stdlib.h>

static struct rd_stream **place_of(const struct rd_streams *streams, uint64_t id);
static void join(struct rd_streams *streams, struct rd_stream *stream);
static void leave(struct rd_streams *streams, struct rd_stream *stream);
static void remove_stream(struct rd_streams *streams, struct rd_stream *stream);

struct rd_stream *rd_streams_add(struct rd_streams *streams, uint64_t id, enum rd_stream_state state) {
  struct rd_stream *stream = rd_memory_new(1, sizeof *stream);
  *stream = (struct rd_stream){.kind = RD_WATCHED_STREAM, .id = id, .state = state, .fd = -1};
  rd_allowance_begin(&stream->allowance, rd_now_ms());
  struct rd_stream **bucket = &streams->buckets[id % RD_STREAMS_BUCKETS];
  stream->next_of_id = *bucket;
  *bucket = stream;
  streams->count++;
  return stream;
}

struct rd_stream *rd_streams_find(const struct rd_streams *streams, uint64_t id) {
  return *place_of(streams, id);
}

void rd_streams_note(struct rd_streams *streams, struct rd_stream *stream) {
  if (stream->state == RD_STREAM_OVER)
    remove_stream(streams, stream);
  else if (rd_stream_can_send(stream) && !stream->is_ready)
    join(streams, stream);
}

struct rd_stream *rd_streams_next(struct rd_streams *streams) {
  struct rd_stream *stream = streams->first_ready;
  if (stream != NULL) leave(streams, stream);
  return stream;
}

void rd_streams_bury(struct rd_streams *streams) {
  while (streams->over != NULL) {
    struct rd_stream *stream = streams->over;
    streams->over = stream->next_ready;
    free(stream);
  }
}

void rd_streams_each(struct rd_streams *streams, void (*call)(void *context, struct rd_stream *stream), void *context) {
  for (size_t i = 0; i < RD_STREAMS_BUCKETS; i++)
    for (struct rd_stream *stream = streams->buckets[i], *next; stream != NULL; stream = next) {
      next = stream->next_of_id;
      call(context, stream);
    }
}

static struct rd_stream **place_of(const struct rd_streams *streams, uint64_t id) {
  struct rd_stream *const *place = &streams->buckets[id % RD_STREAMS_BUCKETS];
  while (*place != NULL && (*place)->id != id) place = &(*place)->next_of_id;
  return (struct rd_stream **)(uintptr_t)place;
}

static void join(struct rd_streams *streams, struct rd_stream *stream) {
  stream->is_ready = true;
  stream->next_ready = NULL;
  stream->previous_ready = streams->last_ready;
  *(streams->last_ready != NULL ? &streams->last_ready->next_ready : &streams->first_ready) = stream;
  streams->last_ready = stream;
}

static void leave(struct rd_streams *streams, struct rd_stream *stream) {
  *(stream->previous_ready != NULL ? &stream->previous_ready->next_ready : &streams->first_ready) = stream->next_ready;
  *(stream->next_ready != NULL ? &stream->next_ready->previous_ready : &streams->last_ready) = stream->previous_ready;
  stream->is_ready = false;
}

// Does not free the stream: an event that was already taken from the kernel may still refer to it.
static void remove_stream(struct rd_streams *streams, struct rd_stream *stream) {
  struct rd_stream **place = place_of(streams, stream->id);
  if (*place == NULL) return;
  if (stream->is_ready) leave(streams, stream);
  *place = stream->next_of_id;
  stream->next_ready = streams->over;
  streams->over = stream;
  streams->count--;
}
