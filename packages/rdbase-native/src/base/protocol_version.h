// SPDX-License-Identifier: Apache-2.0
// The version of all three protocols of docs/protocol.md.
#ifndef RD_BASE_PROTOCOL_VERSION_H
#define RD_BASE_PROTOCOL_VERSION_H

#define RD_PROTOCOL_VERSION 1u

#endif
