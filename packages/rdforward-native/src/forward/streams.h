// SPDX-License-Identifier: Apache-2.0
// All connections of a forward: a table by id, and a queue of the ones that have something to send.
#ifndef RD_FORWARD_STREAMS_H
#define RD_FORWARD_STREAMS_H

#include "forward/stream.h"

#define RD_STREAMS_BUCKETS 4096u
// Maximum at the same time, opened by either end. Any further connection waits in its listener's queue, or is refused.
#define RD_STREAMS_MAX 16384u

struct rd_streams {
  struct rd_stream *buckets[RD_STREAMS_BUCKETS];
  struct rd_stream *first_ready, *last_ready;
  struct rd_stream *over; // linked by next_ready: freed when no event can refer to them any more
  size_t count;
};

// Adds a connection without a socket, in the given state.
struct rd_stream *rd_streams_add(struct rd_streams *streams, uint64_t id, enum rd_stream_state state);
struct rd_stream *rd_streams_find(const struct rd_streams *streams, uint64_t id); // NULL: none
// Call after a change of the stream: queues it if it can send, or moves it to `over`.
void rd_streams_note(struct rd_streams *streams, struct rd_stream *stream);
// Removes and returns the next stream of the queue; NULL: none.
struct rd_stream *rd_streams_next(struct rd_streams *streams);
// Frees the streams that are over.
void rd_streams_bury(struct rd_streams *streams);
void rd_streams_each(struct rd_streams *streams, void (*call)(void *context, struct rd_stream *stream), void *context);

#endif
