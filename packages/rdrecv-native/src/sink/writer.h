// SPDX-License-Identifier: Apache-2.0
// The writer of received frames: the loop writes to a sink that never blocks, a thread to any other.
#ifndef RD_SINK_WRITER_H
#define RD_SINK_WRITER_H

#include "conn/connection.h"
#include "crypto/stream_check.h"
#include "sink/sink.h"

#include <poll.h>

struct rd_writer; // opaque

enum rd_writer_state { RD_WRITER_WRITING, RD_WRITER_COMMITTED, RD_WRITER_FAILED };

// It holds at most `slots` frames, and one of a broken connection. `check`, which it takes over also on failure, is
// compared with END; NULL: none.
struct rd_writer *rd_writer_create(unsigned slots, struct rd_stream_check *check, struct rd_error *error);
// Starts to write. The sink stays the caller's.
bool rd_writer_begin(struct rd_writer *writer, struct rd_sink *sink, struct rd_error *error);
// Stops the thread. False: it hangs in a system call; then neither the writer, the sink nor the frames may be freed.
bool rd_writer_stop(struct rd_writer *writer);
// After rd_writer_stop(). NULL-safe.
void rd_writer_destroy(struct rd_writer *writer);

// Hands over a DATA frame. False: these are more than the slots allow (RD_CODE_DATA_DAMAGED).
bool rd_writer_put(struct rd_writer *writer, const struct rd_rx_frame *rx_frame, struct rd_error *error);
// After the last frame: compares the digest, then commits the sink.
void rd_writer_finish(struct rd_writer *writer, const struct rd_end *end);

// The reader has closed the output: what comes from now on, and END, count as written at once. Only while no thread
// writes: after a failure, or where the owner writes.
void rd_writer_discard(struct rd_writer *writer);

// Drops the frames that are not begun, and the end if there were some: they will come again. Returns how many bytes the
// frame has that is being written; 0: none is.
size_t rd_writer_discard_pending(struct rd_writer *writer, bool *forgot_end);

// The next frame that was written whole. False: none now.
bool rd_writer_take_back(struct rd_writer *writer, struct rd_rx_frame *rx_frame);
// Frames that are not written yet.
unsigned rd_writer_pending(struct rd_writer *writer);
// Frames that were not taken back yet: their memory is in use.
unsigned rd_writer_held(struct rd_writer *writer);
// *error is set when it failed.
enum rd_writer_state rd_writer_state(struct rd_writer *writer, struct rd_error *error);

struct pollfd rd_writer_poll(const struct rd_writer *writer); // to be woken by news, or by room in the sink
void rd_writer_woken(struct rd_writer *writer);               // after it was polled: goes on writing

#endif
