// SPDX-License-Identifier: Apache-2.0
// The paths of rdsend, rdrecv and rdtree, which are beside this program.
#ifndef RD_BASE_PROGRAM_PATHS_H
#define RD_BASE_PROGRAM_PATHS_H

#include "base/error.h"

#include <stddef.h>

// The directory of this program. False (RD_CODE_INTERNAL) when it cannot be found out.
bool rd_program_paths_directory(char *path, size_t path_bytes, struct rd_error *error);
// The path of `name`, `rdsend`, `rdrecv` or `rdtree`: in dynamic/ first, the build that can use the libraries of the
// host, else in the directory itself. False (RD_CODE_INTERNAL): there is none.
bool rd_program_paths_find(const char *name, char *path, size_t path_bytes, struct rd_error *error);

#endif
