// SPDX-License-Identifier: Apache-2.0
// The limit on open descriptors of this process.
#ifndef RD_DESCRIPTOR_LIMIT_H
#define RD_DESCRIPTOR_LIMIT_H

// Raises the soft limit to the hard limit if possible: on many hosts the soft limit is only 1,024.
void rd_descriptor_limit_raise(void);

#endif
