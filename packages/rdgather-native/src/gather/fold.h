// SPDX-License-Identifier: Apache-2.0
// Writes equal outputs of several hosts once, under the list of their hosts.
#ifndef RD_GATHER_FOLD_H
#define RD_GATHER_FOLD_H

#include "base/error.h"
#include "gather/merge.h"

// The bytes of different outputs that are kept until all inputs have ended.
#define RD_FOLD_MAX_BYTES (256u << 20)

// Runs until all inputs have ended, and closes each at its end; then writes the outputs in the order of their first
// hosts. Empty outputs are left out, and the missing end of a last line is added. `labels` must not be NULL. Returns
// false if the outputs exceed RD_FOLD_MAX_BYTES, or a system call fails.
bool rd_fold(const struct rd_merge_settings *settings, struct rd_error *error);

#endif
