// SPDX-License-Identifier: Apache-2.0
// The output of a receiver: its sink and writer, when writing may begin, and the process that reads it.
#ifndef RD_OUTPUT_H
#define RD_OUTPUT_H

#include "data/writer.h"
#include "hop/control.h"
#include "hop/reader_process.h"

// HELD becomes ASKED with the first byte; both become FREE by RD_COMMAND_SHOW, by the end of the stream or after a
// second; then the writer begins.
enum rd_output_state {
  RD_OUTPUT_FREE,
  RD_OUTPUT_HELD,    // rows of rdpipe stand where the output goes, and must go before its first byte
  RD_OUTPUT_ASKED,   // RD_EVENT_OUTPUT was emitted
  RD_OUTPUT_WRITING, // the writer has the sink
};

struct rd_output {
  struct rd_control *control;
  bool control_lost;
  struct rd_reader_process reader;
  struct rd_writer *writer; // NULL: there was no connection yet
  struct rd_sink *sink;     // NULL: none yet
  int fd;                   // -1: the sink is a file
  int watch_fd;             // -1: a reader that goes away does not show
  enum rd_output_state state;
  int64_t asked_at_ms; // 0: never
};

void rd_output_init(struct rd_output *output, struct rd_control *control);
// Follows `file`, `ready`, `reader`, `show` and `lost`, which kills the reader unless the stream was delivered. False:
// it could not be opened.
bool rd_output_handle_command(struct rd_output *output, const struct rd_command *command, bool is_delivered,
                              struct rd_error *error);
// Lets the writer begin, once there is a sink and its first byte may be written; until then data waits with the writer.
// `any`: bytes have come; `ended`: END has.
bool rd_output_begin(struct rd_output *output, bool any, bool ended, struct rd_error *error);
// Milliseconds until it may begin in any case; -1: that depends on what comes.
int rd_output_timeout_ms(const struct rd_output *output);
// After a bad end, when nothing was written yet: if bytes were held, waits until they may be written, and are, but for
// a moment only.
void rd_output_write_held(struct rd_output *output);
// The reader sees the end of the stream.
void rd_output_close(const struct rd_output *output);
// After a bad end the reader must be dead before its input ends: waits for RD_COMMAND_RELEASE, or for the loss of the
// control, and kills it then.
void rd_output_wait_for_release(struct rd_output *output);

#endif
