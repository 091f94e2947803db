// SPDX-License-Identifier: Apache-2.0
// The paths of rdsend, rdrecv and rdtree, which are in the same directory as this program.
#ifndef RD_BASE_PROGRAM_PATHS_H
#define RD_BASE_PROGRAM_PATHS_H

#include "base/error.h"

#include <stddef.h>

// Finds this program's directory. Returns false (RD_CODE_INTERNAL) if it is unknown.
bool rd_program_paths_directory(char *path, size_t path_bytes, struct rd_error *error);
// Finds the program `name`: `rdsend`, `rdrecv` or `rdtree`. Prefers the build in dynamic/, which can use the host's
// libraries, to the one in the directory itself. Returns false (RD_CODE_INTERNAL) if there is neither.
bool rd_program_paths_find(const char *name, char *path, size_t path_bytes, struct rd_error *error);
// The same, but prefers the static build, which uses no library of the host.
bool rd_program_paths_find_static(const char *name, char *path, size_t path_bytes, struct rd_error *error);

#endif
