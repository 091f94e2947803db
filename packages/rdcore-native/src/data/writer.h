// SPDX-License-Identifier: Apache-2.0
// Writes to the sink what arrived. A prompt sink is written to by the writer's owner, as much as goes without waiting;
// what may block for ever is written by a thread.
#ifndef RD_DATA_WRITER_H
#define RD_DATA_WRITER_H

#include "conn/connection.h"
#include "data/sink.h"

#include <poll.h>

struct rd_writer; // opaque

enum rd_writer_state { RD_WRITER_WRITING, RD_WRITER_COMMITTED, RD_WRITER_FAILED };

// At most `slots` frames are with the writer at a time, and one of a broken connection. With `takes_digest` the
// stream's digest is taken and compared.
struct rd_writer *rd_writer_create(unsigned slots, bool takes_digest, struct rd_error *error);
// From now on it writes. The sink stays the caller's.
bool rd_writer_begin(struct rd_writer *writer, struct rd_sink *sink, struct rd_error *error);
// Stops the thread. False: it hangs in the system; then neither the writer, the sink nor the frames may be freed.
bool rd_writer_stop(struct rd_writer *writer);
// After rd_writer_stop(). NULL-safe.
void rd_writer_destroy(struct rd_writer *writer);

// Hands over a DATA frame. False: there are more than the slots allow (RD_CODE_DATA_DAMAGED).
bool rd_writer_put(struct rd_writer *writer, const struct rd_rx_frame *rx_frame, struct rd_error *error);
// After the last frame: compare the digest, then commit the sink.
void rd_writer_finish(struct rd_writer *writer, const struct rd_end *end);

// Forgets the frames that are not begun, and the end if there were some: they will come again. Returns how many bytes
// the frame has that is being written, 0: none is.
size_t rd_writer_forget(struct rd_writer *writer, bool *forgot_end);

// The next frame that is written: false when there is none now.
bool rd_writer_take_back(struct rd_writer *writer, struct rd_rx_frame *rx_frame);
// Frames that are not written yet.
unsigned rd_writer_pending(struct rd_writer *writer);
// *error is set when it failed.
enum rd_writer_state rd_writer_state(struct rd_writer *writer, struct rd_error *error);

struct pollfd rd_writer_poll(const struct rd_writer *writer); // what to poll for: there may be news, or room
void rd_writer_woken(struct rd_writer *writer);               // takes the wake-up back, or writes on

#endif
