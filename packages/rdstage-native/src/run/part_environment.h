// SPDX-License-Identifier: Apache-2.0
// The environment of a part of a stage on several hosts: RDPIPE_HOST, RDPIPE_RANK, RDPIPE_WIDTH.
#ifndef RD_STAGE_PART_ENVIRONMENT_H
#define RD_STAGE_PART_ENVIRONMENT_H

#include "protocol/prepare.h"

// Sets the variables in the agent's own environment, for the next process that is started; the agent has one thread.
// For an ordinary stage the variables are as the agent inherited them.
void rd_part_environment_set(const struct rd_stage_spec *stage);

#endif
