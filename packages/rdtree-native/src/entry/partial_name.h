// SPDX-License-Identifier: Apache-2.0
// The name under which an interrupted copy of a large file stays in its directory.
#ifndef RD_TREE_PARTIAL_NAME_H
#define RD_TREE_PARTIAL_NAME_H

#include "stream/record.h"

#define RD_PARTIAL_NAME_BYTES 39u    // with its NUL: ".rdcp-" and 32 hexadecimal digits
#define RD_JOURNAL_DIRECTORY ".rdcp" // at the target's top: a file for each run that is being done, or was killed
#define RD_PARTIAL_FILE_MIN_BYTES (UINT64_C(8) << 20) // smaller files are copied again

// The name for the file that is to be `final_name`: by XXH3-128 of its bytes, so that every run finds it.
// The run that writes to it holds flock(LOCK_EX) on it.
void rd_partial_name(struct rd_bytes final_name, char name[RD_PARTIAL_NAME_BYTES]);

// Whether a name is of that form.
bool rd_name_is_partial(struct rd_bytes name);

// Whether a copy that runs may use the name: for its journals, which are at the target's top, or a temporary file. The
// name of a partial file is not one of them.
bool rd_name_is_of_copy(struct rd_bytes name, bool is_top);

#endif
