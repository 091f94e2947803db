// SPDX-License-Identifier: Apache-2.0
// The bytes of one connection that its receiver lets come: more while its reader keeps up. Pure.
#ifndef RD_FORWARD_ALLOWANCE_H
#define RD_FORWARD_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

#define RD_ALLOWANCE_MIN (64u << 10)
#define RD_ALLOWANCE_MAX (2u << 20)
// The windows of all connections of this end may have so much beyond their least.
#define RD_ALLOWANCE_BUDGET (64u << 20)

struct rd_allowance {
  uint32_t window;  // the most that may be granted or wait here, all in all
  uint32_t granted; // was granted and has not come yet
  uint32_t waiting; // has come and is not taken yet
  int64_t last_ms;  // of the last grant
};

// The window of a new connection, all of which is granted by OPEN or OPENED.
void rd_allowance_begin(struct rd_allowance *allowance, int64_t now_ms);
// False: the peer sent more than was granted.
bool rd_allowance_arrived(struct rd_allowance *allowance, uint32_t bytes);
// The connection took so many. Returns the bytes to be granted now, or 0; `*budget` is what windows may still grow by.
uint32_t rd_allowance_taken(struct rd_allowance *allowance, uint32_t bytes, int64_t now_ms, uint32_t *budget);
// Returns to the budget what the window has of it.
void rd_allowance_end(struct rd_allowance *allowance, uint32_t *budget);

#endif
