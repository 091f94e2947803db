// SPDX-License-Identifier: Apache-2.0
// The version of the protocols in sections 1 to 3 of docs/protocol.
#ifndef RD_BASE_PROTOCOL_VERSION_H
#define RD_BASE_PROTOCOL_VERSION_H

#define RD_PROTOCOL_VERSION 1u

#endif
