// SPDX-License-Identifier: Apache-2.0
// The addresses of this host's network interfaces.
#ifndef RD_STAGE_ADDRESSES_H
#define RD_STAGE_ADDRESSES_H

#include <jansson.h>

// `addresses` of the hello (docs/protocol/agent.md, section 2): at most 256, first those of interfaces that are up.
// Empty if the kernel does not list them. The caller owns the reference.
json_t *rd_addresses_json(void);

#endif
