// SPDX-License-Identifier: Apache-2.0
// Sends the content of an open file: several threads read ahead, and the parts go in order.
#ifndef RD_TREE_CONTENT_H
#define RD_TREE_CONTENT_H

#include "read/wanted_file.h"
#include "stream/stream_writer.h"

struct rd_read_content; // opaque

// Never NULL. `writer` and `threads` stay the caller's.
struct rd_read_content *rd_read_content_create(struct rd_stream_writer *writer, struct rd_threads *threads);
void rd_read_content_destroy(struct rd_read_content *content); // NULL-safe

// DATA from `from` on, then FILE_END. A file that changes meanwhile is read once more; `number` and `reason` of the
// file tell why it was dropped. Adds to *bytes those of DATA. False: the copy cannot go on.
bool rd_read_content_send(struct rd_read_content *content, struct rd_wanted_file *file, uint64_t from, uint64_t *bytes,
                          struct rd_error *error);
// FILE_END of a file without content: it failed.
bool rd_read_content_drop(struct rd_read_content *content, const struct rd_wanted_file *file, struct rd_error *error);
// DATA and FILE_END of a file that was read whole.
bool rd_read_content_send_whole(struct rd_read_content *content, const struct rd_wanted_file *file,
                                struct rd_error *error);

#endif
