// SPDX-License-Identifier: Apache-2.0
// The limit of open descriptors of this process.
#ifndef RD_DESCRIPTOR_LIMIT_H
#define RD_DESCRIPTOR_LIMIT_H

// Raises the soft limit to the hard one, where that is possible: many hosts allow 1,024 unless more are asked for.
void rd_descriptor_limit_raise(void);

#endif
