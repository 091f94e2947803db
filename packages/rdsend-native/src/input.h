// SPDX-License-Identifier: Apache-2.0
// The input of a sender: a source and its reader, or the stream that a receiver here passes on.
#ifndef RD_INPUT_H
#define RD_INPUT_H

#include "hop/control.h"
#include "ring/relay.h"
#include "source/reader.h"

struct rd_input {
  struct rd_source *source; // NULL: none so far, or a relay
  struct rd_relay *relay;   // NULL: none so far, or a source
  struct rd_stream_check *check;
  struct rd_ring *ring; // set once the input has begun
  struct rd_reader *reader;
  bool committed; // the producer ended well
  uint32_t producer_status;
};

// Returns false if the thread hangs in a system call; then nothing was freed.
bool rd_input_clear(struct rd_input *input);
// Handles `file`, `ready`, `relay` and `commit`, and emits that the input is ready. Returns false if the input could
// not be opened.
bool rd_input_handle_command(struct rd_input *input, const struct rd_command *command, struct rd_control *control,
                             struct rd_error *error);
// Begins once there is a source or a relay. `check`: a digest and a signature of the source's stream are wanted.
bool rd_input_begin(struct rd_input *input, size_t ring_bytes, const struct rd_signing *check, struct rd_error *error);

// Like rd_reader_state(): at the end everything is in the ring.
enum rd_reader_state rd_input_state(const struct rd_input *input, struct rd_error *error);
// Call at the end, after the commit: fills in the contents of END. Returns false also if it cannot be signed.
bool rd_input_end(struct rd_input *input, struct rd_end *end, struct rd_error *error);
// The receiver has everything up to this offset.
void rd_input_release(struct rd_input *input, uint64_t offset);

// Like the functions of the reader: the descriptor to poll, whether to wait for bytes beyond `filled`, and the call
// after polling.
int rd_input_poll_fd(const struct rd_input *input);
bool rd_input_expect_news(struct rd_input *input, uint64_t filled);
void rd_input_woken(struct rd_input *input);

#endif
