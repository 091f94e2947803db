// SPDX-License-Identifier: Apache-2.0
// A reader and a writer of lines that never wait.
#ifndef RD_STAGE_LINES_H
#define RD_STAGE_LINES_H

#include "base/error.h"

#include <stddef.h>

// Called with one line, without the newline, NUL-terminated; valid during the call. False stops the reading.
typedef bool rd_line_function(void *context, const char *line, size_t bytes);

enum rd_lines_state { RD_LINES_MORE, RD_LINES_END, RD_LINES_FAILED };

struct rd_line_reader;
struct rd_line_reader *rd_line_reader_create(int fd, size_t line_max_bytes); // borrows `fd`
void rd_line_reader_destroy(struct rd_line_reader *reader);                  // NULL-safe

// Reads once and passes the whole lines to `function`. RD_LINES_FAILED: a line is too long, or the function returned
// false (and *error is what it was). A last line without a newline is dropped. RD_LINES_MORE also when there was
// nothing to read.
enum rd_lines_state rd_line_reader_take(struct rd_line_reader *reader, rd_line_function *function, void *context,
                                        struct rd_error *error);

struct rd_line_writer;
struct rd_line_writer *rd_line_writer_create(int fd);       // borrows `fd`: a socket, or a pipe that may be blocking
void rd_line_writer_destroy(struct rd_line_writer *writer); // NULL-safe; wipes what was not written

// Queues a line (without newline; copied).
void rd_line_writer_add(struct rd_line_writer *writer, const char *line, size_t bytes);
// The same, before all queued lines of which no byte was written yet.
void rd_line_writer_add_first(struct rd_line_writer *writer, const char *line, size_t bytes);
// True when that line is the first of those.
bool rd_line_writer_first_is(const struct rd_line_writer *writer, const char *line);
size_t rd_line_writer_queued_bytes(const struct rd_line_writer *writer);
// After poll() reported POLLOUT: writes as much as goes without waiting. False when the reader is gone.
bool rd_line_writer_flush(struct rd_line_writer *writer);

#endif
