// SPDX-License-Identifier: Apache-2.0
// The rights that rdtree gives up before it reads a stream: programs, sockets, foreign files.
#ifndef RD_TREE_CONFINEMENT_H
#define RD_TREE_CONFINEMENT_H

#include "setup/settings.h"

// `root_fd`: the directory that a server serves; -1: none. Before other threads are started. Root keeps what a copy
// needs. A kernel that has no such locks changes nothing.
void rd_tree_confine(const struct rd_tree_settings *settings, int root_fd);

#endif
