// SPDX-License-Identifier: Apache-2.0
// The output of a receiver: its sink and writer, when writing may begin, and the reading process.
#ifndef RD_OUTPUT_H
#define RD_OUTPUT_H

#include "hop/control.h"
#include "hop/process_group.h"
#include "sink/writer.h"

// The first byte makes ASKED of HELD. RD_COMMAND_SHOW makes FREE of both, and so do an empty stream's end and a second
// without an answer. Then the writer begins.
enum rd_output_state {
  RD_OUTPUT_FREE,
  RD_OUTPUT_HELD,    // rdpipe has to clear its rows from the terminal before the first byte is written
  RD_OUTPUT_ASKED,   // RD_EVENT_OUTPUT was emitted
  RD_OUTPUT_WRITING, // the writer has the sink
};

struct rd_output {
  struct rd_control *control;
  bool control_lost;
  struct rd_process_group reader;
  struct rd_writer *writer; // NULL: there was no connection yet
  struct rd_sink *sink;     // NULL: none yet
  int fd;                   // -1: the sink is a file
  int watch_fd;             // -1: the sink does not show that its reader is gone
  enum rd_output_state state;
  int64_t asked_at_ms; // 0: never
};

void rd_output_init(struct rd_output *output, struct rd_control *control);
// Destroys writer and sink. False: its thread hangs in a system call, and nothing was freed.
bool rd_output_clear(struct rd_output *output);
// Follows `file`, `ready`, `reader` and `show`; when the control is lost it kills the reader, unless the stream was
// delivered. False: the sink could not be opened.
bool rd_output_handle_command(struct rd_output *output, const struct rd_command *command, bool is_delivered,
                              struct rd_error *error);
// The hop's first connection makes the writer, see rd_writer_create(); later ones use the same.
// `signing`: the stream is checked against END; NULL: it is not.
bool rd_output_attach(struct rd_output *output, unsigned slots, const struct rd_signing *signing,
                      struct rd_error *error);
// Lets the writer begin when there is a sink and its first byte may be written; until then the writer keeps the data.
// `any`: bytes have come; `ended`: END has come.
bool rd_output_begin(struct rd_output *output, bool any, bool ended, struct rd_error *error);
// Milliseconds until RD_EVENT_OUTPUT has had its time for an answer; -1: it was not emitted, or is answered.
int rd_output_timeout_ms(const struct rd_output *output);
// After a bad end, when nothing was written yet: waits, a moment at most, until held bytes may be written, and are.
void rd_output_write_held(struct rd_output *output);
// The reader sees the end of the stream.
void rd_output_close(const struct rd_output *output);
// After a bad end the reader must be dead before its input ends: waits for RD_COMMAND_RELEASE; when the control is lost
// it kills the reader itself.
void rd_output_wait_for_release(struct rd_output *output);

#endif
