// SPDX-License-Identifier: Apache-2.0
// A reader and a writer of lines. Neither ever blocks.
#ifndef RD_STAGE_LINES_H
#define RD_STAGE_LINES_H

#include "base/error.h"

#include <stddef.h>

// Called with one line, without the newline, NUL-terminated; valid during the call. Returns false to stop reading.
typedef bool rd_line_function(void *context, const char *line, size_t bytes);

enum rd_lines_state { RD_LINES_MORE, RD_LINES_END, RD_LINES_FAILED };

struct rd_line_reader;
struct rd_line_reader *rd_line_reader_create(int fd, size_t line_max_bytes); // borrows `fd`
void rd_line_reader_destroy(struct rd_line_reader *reader);                  // NULL-safe

// Reads once and passes the complete lines to `function`. Returns RD_LINES_FAILED if a line is too long, or if the
// function returned false (then *error is not changed), and RD_LINES_MORE also if there was nothing to read. A last
// line without a newline is dropped.
enum rd_lines_state rd_line_reader_take(struct rd_line_reader *reader, rd_line_function *function, void *context,
                                        struct rd_error *error);

struct rd_line_writer;
struct rd_line_writer *rd_line_writer_create(int fd);       // borrows `fd`: a socket, or a pipe that may be blocking
void rd_line_writer_destroy(struct rd_line_writer *writer); // NULL-safe; wipes the unwritten lines

// Queues a line (without newline; copied).
void rd_line_writer_add(struct rd_line_writer *writer, const char *line, size_t bytes);
// The same, before all queued lines that have not been written in part.
void rd_line_writer_add_first(struct rd_line_writer *writer, const char *line, size_t bytes);
// Returns true if `line` is the first of those lines.
bool rd_line_writer_first_is(const struct rd_line_writer *writer, const char *line);
// Returns the number of bytes that are not written yet.
size_t rd_line_writer_queued_bytes(const struct rd_line_writer *writer);
// After poll() reported POLLOUT: writes as much as possible without blocking. Returns false if the reader is gone.
bool rd_line_writer_flush(struct rd_line_writer *writer);

#endif
