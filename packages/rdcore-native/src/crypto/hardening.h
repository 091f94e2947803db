// SPDX-License-Identifier: Apache-2.0
// Keeps the keys that pass through a process to its own memory, and there to as few places as can be.
#ifndef RD_CRYPTO_HARDENING_H
#define RD_CRYPTO_HARDENING_H

// To be called once, before any JSON is read or made and before other threads run. From then on no core of this process
// is dumped, others of the same user may neither attach to it nor read its memory, and memory of jansson's is wiped
// when it is freed: messages hold keys. A program that is started gets none of this.
void rd_harden_process(void);

#endif
