// SPDX-License-Identifier: Apache-2.0
// The output of a receiver: its sink and writer, when writing may begin, and the reading process.
#ifndef RD_OUTPUT_H
#define RD_OUTPUT_H

#include "hop/control.h"
#include "hop/process_group.h"
#include "sink/writer.h"

// HELD -> ASKED on the first byte. HELD or ASKED -> FREE on RD_COMMAND_SHOW, on the end of an empty stream, or after a
// second without an answer. FREE -> WRITING when the writer begins.
enum rd_output_state {
  RD_OUTPUT_FREE,
  RD_OUTPUT_HELD,    // rdpipe must clear its rows from the terminal before the first byte is written
  RD_OUTPUT_ASKED,   // RD_EVENT_OUTPUT was emitted
  RD_OUTPUT_WRITING, // the writer has the sink
};

struct rd_output {
  struct rd_control *control;
  bool control_lost;
  struct rd_process_group reader;
  struct rd_writer *writer;      // NULL: no connection so far
  struct rd_sink *sink;          // NULL: none so far
  struct rd_shared_ring *shared; // of the program that will read the output, until the sink has it; NULL: none
  int fd;                        // -1: the sink is a file
  int watch_fd;                  // -1: the sink does not show whether its reader is gone
  enum rd_output_state state;
  int64_t asked_at_ms; // 0: never
};

void rd_output_init(struct rd_output *output, struct rd_control *control);
// Destroys writer and sink. Returns false if the writer's thread hangs in a system call; then nothing was freed.
bool rd_output_clear(struct rd_output *output);
// Handles `file`, `ring`, `ready`, `reader` and `show`. If the control connection is lost, kills the reader unless the
// stream was delivered. Returns false if the sink could not be opened.
bool rd_output_handle_command(struct rd_output *output, const struct rd_command *command, bool is_delivered,
                              struct rd_error *error);
// Creates the writer at the hop's first connection (see rd_writer_create()); later connections use the same writer.
// `signing`: the stream is checked against END; NULL: it is not.
bool rd_output_attach(struct rd_output *output, unsigned slots, const struct rd_signing *signing,
                      struct rd_error *error);
// Lets the writer begin if there is a sink and its first byte may be written; until then the writer keeps the data.
// `any`: bytes have arrived; `ended`: END has arrived.
bool rd_output_begin(struct rd_output *output, bool any, bool ended, struct rd_error *error);
// Returns the milliseconds that are left for an answer to RD_EVENT_OUTPUT; -1: not emitted, or answered.
int rd_output_timeout_ms(const struct rd_output *output);
// After a bad end, if nothing was written yet: waits briefly until held bytes may be written, and writes them.
void rd_output_write_held(struct rd_output *output);
// Lets the reader see the end of the stream.
void rd_output_close(const struct rd_output *output);
// After a bad end the reader must be dead before its input ends: waits for RD_COMMAND_RELEASE. If the control
// connection is lost, kills the reader itself.
void rd_output_wait_for_release(struct rd_output *output);

#endif
