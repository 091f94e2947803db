// SPDX-License-Identifier: Apache-2.0
// The input of a sender: a source and its reader, or what the receiver beside it passes on.
#ifndef RD_INPUT_H
#define RD_INPUT_H

#include "hop/control.h"
#include "ring/relay.h"
#include "source/reader.h"

struct rd_input {
  struct rd_source *source; // NULL: none yet, or a relay
  struct rd_relay *relay;   // NULL: none yet, or a source
  struct rd_stream_check *check;
  struct rd_ring *ring; // once it has begun
  struct rd_reader *reader;
  bool committed; // the producer ended well
  uint32_t producer_status;
};

// False when the thread hangs in a system call: nothing was freed then.
bool rd_input_clear(struct rd_input *input);
// Follows `file`, `ready`, `relay` and `commit`, and emits that it is ready. False: it could not be opened.
bool rd_input_handle_command(struct rd_input *input, const struct rd_command *command, struct rd_control *control,
                             struct rd_error *error);
// Begins once there is something to take from. `check`: of a source, digest and signature of the stream are wanted.
bool rd_input_begin(struct rd_input *input, size_t ring_bytes, const struct rd_signing *check, struct rd_error *error);

// As rd_reader_state(): at the end the ring has everything.
enum rd_reader_state rd_input_state(const struct rd_input *input, struct rd_error *error);
// At the end, and after the commit: what END says. False also when it cannot be signed.
bool rd_input_end(struct rd_input *input, struct rd_end *end, struct rd_error *error);
// The receiver has everything up to this offset.
void rd_input_release(struct rd_input *input, uint64_t offset);

// As the reader's: what to poll, whether to wait beyond `filled`, and what to do after it.
int rd_input_poll_fd(const struct rd_input *input);
bool rd_input_expect_news(struct rd_input *input, uint64_t filled);
void rd_input_woken(struct rd_input *input);

#endif
