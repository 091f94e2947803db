// SPDX-License-Identifier: Apache-2.0
// Hardening of a process that handles keys: they stay in its memory, in as few places as possible.
#ifndef RD_SANDBOX_HARDENING_H
#define RD_SANDBOX_HARDENING_H

// Call it once, before any JSON is read or made and before other threads run. From then on this process dumps no core,
// other processes of the user can neither attach to it nor read its memory, and jansson's memory is wiped when it is
// freed, as messages hold keys. A program that this one starts inherits none of this.
void rd_harden_process(void);

#endif
