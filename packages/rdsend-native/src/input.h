// SPDX-License-Identifier: Apache-2.0
// The input of a sender: a source and its reader, or a ring that another program fills.
// That program is one of a copy, or the receiver on this host, which passes a stream on.
#ifndef RD_INPUT_H
#define RD_INPUT_H

#include "hop/control.h"
#include "hop/relay.h"
#include "source/reader.h"

#define RD_INPUT_SHARED_MIN_BYTES (4u << 20)

struct rd_input {
  struct rd_source *source;      // NULL: none so far, or a relay
  struct rd_relay *relay;        // NULL: none so far, or a source
  struct rd_shared_ring *shared; // of the relay, or of the program that writes to the source; NULL: no such ring
  struct rd_stream_check *check;
  uint64_t checked;         // without a reader: stream offset up to which `check` has the bytes
  struct rd_ring *ring;     // set once the input has begun
  struct rd_reader *reader; // NULL: none so far, or a shared ring
  bool committed;           // the producer ended well
  uint32_t producer_status;
};

// Returns false if the thread hangs in a system call; then nothing was freed.
bool rd_input_clear(struct rd_input *input);
// Handles `file`, `ring`, `ready`, `relay` and `commit`, and emits that the input is ready. Returns false if the input
// could not be opened.
bool rd_input_handle_command(struct rd_input *input, const struct rd_command *command, struct rd_control *control,
                             struct rd_error *error);
// Begins once there is a source or a relay. `check`: a digest and a signature of the source's stream are wanted.
// `ring_bytes`: a program of a copy gets RD_INPUT_SHARED_MIN_BYTES at least, so that its largest record fits.
bool rd_input_begin(struct rd_input *input, size_t ring_bytes, const struct rd_signing *check, struct rd_error *error);

// Call before bytes of the ring are sent; those that were sent before are left out of the digest.
void rd_input_sending(struct rd_input *input, uint64_t offset, const unsigned char *bytes, size_t count);
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
