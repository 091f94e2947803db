// SPDX-License-Identifier: Apache-2.0
// Drops the privileges that rdforward does not need once it listens: programs, devices, other files.
#ifndef RD_FORWARD_CONFINEMENT_H
#define RD_FORWARD_CONFINEMENT_H

#include "forward/listener.h"

#include <sys/types.h>

// `child`: the process that may still be signalled; 0: none. The local sockets of `listeners` can still be removed.
void rd_forward_confine(const struct rd_forward_listener *listeners, size_t count, pid_t child);

#endif
