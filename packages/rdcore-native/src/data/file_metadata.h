// SPDX-License-Identifier: Apache-2.0
// Owner, mode, ACL and extended attributes, for the file that is to take the place of another.
#ifndef RD_DATA_FILE_METADATA_H
#define RD_DATA_FILE_METADATA_H

#include "base/error.h"

// Gives the empty file `to` the owner, mode, ACL and extended attributes of `from`, as far as a write into `from` would
// have left them: no file capabilities, and set-user-id only where the kernel leaves it to this user. `path` is for
// messages. False: something cannot be kept (RD_CODE_SINK_UNWRITABLE).
bool rd_file_metadata_copy(int from_fd, int to_fd, const char *path, struct rd_error *error);

#endif
