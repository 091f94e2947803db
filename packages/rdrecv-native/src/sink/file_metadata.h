// SPDX-License-Identifier: Apache-2.0
// Copies owner, mode, ACL and extended attributes to the file that will replace another.
#ifndef RD_SINK_FILE_METADATA_H
#define RD_SINK_FILE_METADATA_H

#include "base/error.h"

// Gives the empty file `to_fd` the owner, mode, ACL and extended attributes of `from_fd`, except those that a write
// into `from_fd` would remove: file capabilities, and set-user-id if the kernel clears it on writes by this user.
// `path` is for messages. Returns false if any of them cannot be kept (RD_CODE_SINK_UNWRITABLE).
bool rd_file_metadata_copy(int from_fd, int to_fd, const char *path, struct rd_error *error);

#endif
