// SPDX-License-Identifier: Apache-2.0
// The metadata of a directory's names, read ahead by threads if the file system answers slowly.
// A file server answers many requests at the same time.
#ifndef RD_TREE_STATUSES_H
#define RD_TREE_STATUSES_H

#include "scan/names.h"

#include <sys/stat.h>

struct rd_statuses; // opaque

// As rd_status_of_name(), from any thread.
typedef bool rd_status_reader(int fd, const char *name, struct statx *status);

// `threads`: the most that read ahead. Never NULL.
struct rd_statuses *rd_statuses_create(unsigned threads, rd_status_reader *read);
// NULL-safe.
void rd_statuses_destroy(struct rd_statuses *statuses);

// Begins with other names, all in the directory `fd`. Until the last one is read, or rd_statuses_end(), `fd` must stay
// open, and `names` may change only in the types of names that were read.
void rd_statuses_begin(struct rd_statuses *statuses, int fd, const struct rd_names *names);
// Reads the metadata of the name `index`; returns false, with errno, on failure. Call with rising `index`; not for
// names of type DT_DIR.
bool rd_statuses_read(struct rd_statuses *statuses, size_t index, struct statx *status);
// Waits for what is read ahead.
void rd_statuses_end(struct rd_statuses *statuses);

#endif
