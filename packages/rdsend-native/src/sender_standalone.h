// SPDX-License-Identifier: Apache-2.0
// rdsend without an agent: it dials, and its producer's exit commits or aborts the stream.
#ifndef RD_SENDER_STANDALONE_H
#define RD_SENDER_STANDALONE_H

#include "cli/standalone.h"

extern const struct rd_standalone_ops rd_sender_standalone_ops;

#endif
