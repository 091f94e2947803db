// SPDX-License-Identifier: Apache-2.0
// Memory for small objects; aborts the process if there is none.
// After an abort the guardian of an agent, or the agent of a data program, ends the rest of the run.
#ifndef RD_BASE_MEMORY_H
#define RD_BASE_MEMORY_H

#include <stddef.h>

// Returns zeroed memory; free with free(). Never NULL.
void *rd_memory_new(size_t count, size_t bytes_each);
// Like realloc(): the added bytes are not zeroed. Never NULL.
void *rd_memory_resize(void *memory, size_t count, size_t bytes_each);
// Returns a copy with a NUL at the end; free with free(). Never NULL.
char *rd_memory_copy(const char *bytes, size_t count);

#endif
