// SPDX-License-Identifier: Apache-2.0
// Gives up rights before rdtree reads a stream: to run programs, use sockets or access other files.
#ifndef RD_TREE_CONFINEMENT_H
#define RD_TREE_CONFINEMENT_H

#include "setup/settings.h"

// `root_fd`: the directory that a server serves; -1: none. Call before other threads are started. Operations that a
// copy needs as root stay allowed. On a kernel without these mechanisms nothing changes.
void rd_tree_confine(const struct rd_tree_settings *settings, int root_fd);

#endif
