// SPDX-License-Identifier: Apache-2.0
// Batches of written files: all are made permanent by one call, then get their names.
#ifndef RD_TREE_WRITE_BATCH_H
#define RD_TREE_WRITE_BATCH_H

#include "stream/stream_writer.h"
#include "target/target_file.h"

struct rd_batches; // opaque

// `results` may be NULL. NULL: the thread that publishes cannot be started.
struct rd_batches *rd_batches_create(struct rd_write *write, struct rd_stream_writer *results, struct rd_error *error);
// Ends the thread, while there still are threads for its jobs. NULL-safe, as the next one.
void rd_batches_stop(struct rd_batches *batches);
// Removes the files that were not published. After the jobs have ended.
void rd_batches_destroy(struct rd_batches *batches);

// Takes the file, which is complete. Any thread.
void rd_batches_add(struct rd_batches *batches, struct rd_target_file *file);
// Remembers a file system, so that it is made permanent with each batch, and errors since now are seen.
void rd_batches_add_file_system(struct rd_batches *batches, const struct rd_directory *directory);
// Waits while there is too much that was not published, or with `all` until nothing is; for at most `timeout_ms`: then
// false. Also true when the copy has stopped.
bool rd_batches_wait(struct rd_batches *batches, bool all, int timeout_ms);
// After the last batch: all file systems once more, and the results of the rest. False: the copy was stopped.
bool rd_batches_finish(struct rd_batches *batches);

#endif
