// SPDX-License-Identifier: Apache-2.0
// The bytes of a connection that its receiver allows to be sent: more while its reader keeps up. Pure.
#ifndef RD_FORWARD_ALLOWANCE_H
#define RD_FORWARD_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

#define RD_ALLOWANCE_MIN (64u << 10)
#define RD_ALLOWANCE_MAX (2u << 20)
// The windows of all connections of this end may exceed their minimum by this much in total.
#define RD_ALLOWANCE_BUDGET (64u << 20)

struct rd_allowance {
  uint32_t window;  // the maximum that may be granted or waiting, in total
  uint32_t granted; // granted, but not arrived yet
  uint32_t waiting; // arrived, but not taken yet
  int64_t last_ms;  // time of the last grant
};

// Begins with the window of a new connection, all of which is granted by OPEN or OPENED.
void rd_allowance_begin(struct rd_allowance *allowance, int64_t now_ms);
// Returns false if the peer sent more than was granted.
bool rd_allowance_arrived(struct rd_allowance *allowance, uint32_t bytes);
// The connection took `bytes`. Returns the number of bytes to be granted now, or 0. *budget is the amount by which
// windows may still grow.
uint32_t rd_allowance_taken(struct rd_allowance *allowance, uint32_t bytes, int64_t now_ms, uint32_t *budget);
// Returns the window's share to the budget.
void rd_allowance_end(struct rd_allowance *allowance, uint32_t *budget);

#endif
