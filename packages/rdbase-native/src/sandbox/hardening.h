// SPDX-License-Identifier: Apache-2.0
// Hardens a process that handles keys: keys stay in its memory, with as few copies as possible.
#ifndef RD_SANDBOX_HARDENING_H
#define RD_SANDBOX_HARDENING_H

// Call once, before any JSON is parsed or created and before other threads run. From then on this process dumps no
// core, other processes of the user can neither attach to it nor read its memory, and jansson's memory is wiped when
// freed, because messages contain keys. Programs that this process starts inherit none of this.
void rd_harden_process(void);

#endif
