// SPDX-License-Identifier: Apache-2.0
// Batches of written files: one call makes a batch permanent, then its files get their names.
#ifndef RD_TREE_WRITE_BATCH_H
#define RD_TREE_WRITE_BATCH_H

#include "stream/stream_writer.h"
#include "target/target_file.h"

struct rd_batches; // opaque

// `results` may be NULL. Returns NULL if the publishing thread cannot be started.
struct rd_batches *rd_batches_create(struct rd_write *write, struct rd_stream_writer *results, struct rd_error *error);
// Ends the thread; call while there still are threads for its jobs. NULL-safe, as is rd_batches_destroy().
void rd_batches_stop(struct rd_batches *batches);
// Removes the files that were not published. Call after the jobs have ended.
void rd_batches_destroy(struct rd_batches *batches);

// Takes ownership of the file, which must be complete. Any thread may call it.
void rd_batches_add(struct rd_batches *batches, struct rd_target_file *file);
// Adds a file system, so that each batch makes it permanent, and its errors are detected from now on.
void rd_batches_add_file_system(struct rd_batches *batches, const struct rd_directory *directory);
// Waits while too much is unpublished, or with `all` until nothing is, for at most `timeout_ms`. Returns false on
// timeout, and true also if the copy has stopped.
bool rd_batches_wait(struct rd_batches *batches, bool all, int timeout_ms);
// Call after the last batch: makes all file systems permanent once more, and reports the remaining results. Returns
// false if the copy was stopped.
bool rd_batches_finish(struct rd_batches *batches);

#endif
