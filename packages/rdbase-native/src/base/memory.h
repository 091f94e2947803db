// SPDX-License-Identifier: Apache-2.0
// Memory for small objects; without memory the process aborts.
// The guardian of an agent, and the agent of a data program, then end the rest of the run.
#ifndef RD_BASE_MEMORY_H
#define RD_BASE_MEMORY_H

#include <stddef.h>

// Zeroed; the caller frees it with free(). Never NULL.
void *rd_memory_new(size_t count, size_t bytes_each);
// As realloc(): the added bytes are not zeroed. Never NULL.
void *rd_memory_resize(void *memory, size_t count, size_t bytes_each);
// A copy, ended by a NUL; the caller frees it. Never NULL.
char *rd_memory_copy(const char *bytes, size_t count);

#endif
