// SPDX-License-Identifier: Apache-2.0
// The addresses that this host's network interfaces have.
#ifndef RD_STAGE_ADDRESSES_H
#define RD_STAGE_ADDRESSES_H

#include <jansson.h>

// `addresses` of the hello (docs/protocol.md, section 2): at most 256, those of interfaces that are up first. Empty
// when the kernel does not tell. The caller's to give away.
json_t *rd_addresses_json(void);

#endif
