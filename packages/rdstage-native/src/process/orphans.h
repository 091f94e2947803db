// SPDX-License-Identifier: Apache-2.0
// Orphans: processes whose parent has ended. A process that ends a tree of processes has to find them.
#ifndef RD_STAGE_ORPHANS_H
#define RD_STAGE_ORPHANS_H

#include "base/error.h"

// Makes this process the parent of every orphan below it. Returns false (RD_CODE_INTERNAL) where orphans cannot be
// found: without PR_SET_CHILD_SUBREAPER, or if /proc shows the processes of another pid namespace.
bool rd_orphans_adopt(struct rd_error *error);

#endif
