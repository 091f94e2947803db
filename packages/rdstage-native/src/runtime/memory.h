// SPDX-License-Identifier: Apache-2.0
// Memory of the agent. There is no going on without it, and no need to: a supervisor that dies is answered for by its
// guardian, which ends everything of the run.
#ifndef RD_STAGE_MEMORY_H
#define RD_STAGE_MEMORY_H

#include <stddef.h>

// Zeroed memory; never NULL. The caller frees it with free().
void *rd_memory_new(size_t count, size_t bytes_each);
// As realloc(), never NULL.
void *rd_memory_resize(void *memory, size_t count, size_t bytes_each);
// A copy with a NUL behind it; never NULL. The caller frees it.
char *rd_memory_copy(const char *bytes, size_t count);

#endif
