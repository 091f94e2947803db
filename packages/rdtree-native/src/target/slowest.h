// SPDX-License-Identifier: Apache-2.0
// The files and directories that took longest.
#ifndef RD_TREE_WRITE_SLOWEST_H
#define RD_TREE_WRITE_SLOWEST_H

#include <stdbool.h>
#include <stdint.h>

struct rd_slowest; // opaque

struct rd_slowest *rd_slowest_create(void);          // never NULL
void rd_slowest_destroy(struct rd_slowest *slowest); // NULL-safe

// Returns true if `ns` is among the slowest so far. Any thread may call this and rd_slowest_add().
bool rd_slowest_wants(const struct rd_slowest *slowest, bool is_directory, uint64_t ns);
// Takes ownership of the path.
void rd_slowest_add(struct rd_slowest *slowest, bool is_directory, char *path, uint64_t bytes, uint64_t ns);
// Emits the events.
void rd_slowest_report(struct rd_slowest *slowest);

#endif
