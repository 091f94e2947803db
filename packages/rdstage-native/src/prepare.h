// SPDX-License-Identifier: Apache-2.0
// Decoding of the request that describes a segment.
#ifndef RD_STAGE_PREPARE_H
#define RD_STAGE_PREPARE_H

#include "request.h"

// NULL (RD_CODE_USAGE) when a part is missing, of the wrong kind or out of range, or when stages and links do not fit
// together. Free with prepare_destroy().
struct prepare_spec *prepare_decode(json_t *object, struct rd_error *error);

// The link that stage takes as its input (`end` HOP_RECV) or output (HOP_SEND), or NULL.
const struct link_spec *prepare_link_of(const struct prepare_spec *prepare, const struct stage_spec *stage,
                                        enum hop_end end);
// The stage that reads from (`end` HOP_RECV) or writes to (HOP_SEND) that link, or NULL.
const struct stage_spec *prepare_stage_of(const struct prepare_spec *prepare, int64_t link, enum hop_end end);

#endif
