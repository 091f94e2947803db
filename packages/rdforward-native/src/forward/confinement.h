// SPDX-License-Identifier: Apache-2.0
// Drops the privileges that rdforward does not need once it listens: programs, devices, other files.
#ifndef RD_FORWARD_CONFINEMENT_H
#define RD_FORWARD_CONFINEMENT_H

#include "forward/listener.h"
#include "forward/specs.h"

#include <sys/types.h>

struct rd_forward_needs {
  const struct rd_place *targets; // which may be dialed
  size_t target_count;
  const struct rd_forward_listener *listeners; // whose local sockets may be removed
  size_t listener_count;
  pid_t child; // may be sent signals; 0: none
};

void rd_forward_confine(const struct rd_forward_needs *needs);

#endif
