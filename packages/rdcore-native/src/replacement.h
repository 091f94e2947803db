// SPDX-License-Identifier: Apache-2.0
// A file written beside another, which it replaces only when it is whole.
#ifndef RD_REPLACEMENT_H
#define RD_REPLACEMENT_H

#include "error.h"

struct rd_replacement; // opaque

// Opens a file without a name, or with a hidden one where the file system cannot do that, in the directory of `path`.
// With mode and owner of the file at `path`; as the umask says when there is none. `path` is resolved: not a symbolic
// link. NULL on failure (RD_CODE_SINK_UNWRITABLE).
struct rd_replacement *rd_replacement_open(const char *path, struct rd_error *error);
void rd_replacement_destroy(struct rd_replacement *replacement); // NULL-safe; removes what was not committed

int rd_replacement_fd(const struct rd_replacement *replacement);
// Writes it to the disk and puts it in the place of the target.
bool rd_replacement_commit(struct rd_replacement *replacement, struct rd_error *error);

// Where `path` leads when symbolic links are followed, the last one even if nothing is there. malloc()ed; NULL on
// failure, and errno.
char *rd_replacement_resolve(const char *path);

#endif
