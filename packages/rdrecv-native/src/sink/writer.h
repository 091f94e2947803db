// SPDX-License-Identifier: Apache-2.0
// Writes received frames: the loop writes to a sink that never blocks, a thread to any other sink.
#ifndef RD_SINK_WRITER_H
#define RD_SINK_WRITER_H

#include "conn/connection.h"
#include "crypto/stream_check.h"
#include "sink/sink.h"

#include <poll.h>

struct rd_writer; // opaque

enum rd_writer_state { RD_WRITER_WRITING, RD_WRITER_COMMITTED, RD_WRITER_FAILED };

// The writer holds at most `slots` frames, and one of a broken connection. `check` is compared with END; NULL: none.
// The writer takes ownership of it, even on failure.
struct rd_writer *rd_writer_create(unsigned slots, struct rd_stream_check *check, struct rd_error *error);
// Starts to write. The sink is owned by the caller.
bool rd_writer_begin(struct rd_writer *writer, struct rd_sink *sink, struct rd_error *error);
// Stops the thread. Returns false if the thread hangs in a system call; then neither the writer, the sink nor the
// frames may be freed.
bool rd_writer_stop(struct rd_writer *writer);
// Call after rd_writer_stop(). NULL-safe.
void rd_writer_destroy(struct rd_writer *writer);

// Passes on a DATA frame. Returns false if there are more than the slots allow (RD_CODE_DATA_DAMAGED).
bool rd_writer_put(struct rd_writer *writer, const struct rd_rx_frame *rx_frame, struct rd_error *error);
// Call after the last frame: compares the digest, then commits the sink.
void rd_writer_finish(struct rd_writer *writer, const struct rd_end *end);

// The reader has closed the output: further frames, and END, count as written immediately. Call it only while no thread
// writes: after a failure, or if the owner writes.
void rd_writer_discard(struct rd_writer *writer);

// Drops the frames that were not begun, and the end if there were such frames: they will be sent again. Returns the
// size of the frame that is being written; 0: none.
size_t rd_writer_discard_pending(struct rd_writer *writer, bool *forgot_end);

// Returns the next frame that was written completely. False: none now.
bool rd_writer_take_back(struct rd_writer *writer, struct rd_rx_frame *rx_frame);
// Returns the number of frames that are not written yet.
unsigned rd_writer_pending(struct rd_writer *writer);
// Returns the number of frames that were not taken back yet: their memory is in use.
unsigned rd_writer_held(struct rd_writer *writer);
// Sets *error if the writer failed.
enum rd_writer_state rd_writer_state(struct rd_writer *writer, struct rd_error *error);

struct pollfd rd_writer_poll(const struct rd_writer *writer); // wakes on news, or when the sink can take more
void rd_writer_woken(struct rd_writer *writer);               // call after polling: continues to write

#endif
