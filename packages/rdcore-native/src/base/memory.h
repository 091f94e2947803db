// SPDX-License-Identifier: Apache-2.0
// Memory of small objects: where there is none the process aborts, for nothing could go on without them.
// The guardian above an agent, and the agent above its programs, end what is left of the run then.
#ifndef RD_BASE_MEMORY_H
#define RD_BASE_MEMORY_H

#include <stddef.h>

// Zeroed; the caller frees it with free(). Never NULL.
void *rd_memory_new(size_t count, size_t bytes_each);
// As realloc(): what is added is not zeroed. Never NULL.
void *rd_memory_resize(void *memory, size_t count, size_t bytes_each);
// A copy with a NUL behind it; the caller frees it. Never NULL.
char *rd_memory_copy(const char *bytes, size_t count);

#endif
