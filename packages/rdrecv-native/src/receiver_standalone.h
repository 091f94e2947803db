// SPDX-License-Identifier: Apache-2.0
// rdrecv without an agent: it listens, and exits with its consumer's status.
#ifndef RD_RECEIVER_STANDALONE_H
#define RD_RECEIVER_STANDALONE_H

#include "cli/standalone.h"

extern const struct rd_standalone_ops rd_receiver_standalone_ops;

#endif
