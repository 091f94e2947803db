// SPDX-License-Identifier: Apache-2.0
// The beginning of a forward: the addresses to dial, the addresses to listen on, and the answers.
#ifndef RD_FORWARD_TABLE_H
#define RD_FORWARD_TABLE_H

#include "base/byte_queue.h"
#include "forward/listener.h"
#include "forward/specs.h"

struct rd_table_channel {
  int in_fd, out_fd, signal_fd;  // signal_fd: -1: none
  struct rd_byte_queue received; // bytes that followed the table; the caller frees them
};

enum rd_table_end {
  RD_TABLE_AGREED,
  RD_TABLE_SIGNALLED,
  RD_TABLE_LOST,   // the other end is gone
  RD_TABLE_FAILED, // *error: a listener failed, or the bytes are not a table
};

// Runs the near end: `local` are the specifications of -L, `remote` those of -R, whose ports become the actual ones at
// the far end. A listener that fails there ends the forward. If `warn` is not NULL, it gets the reason instead, the
// port of the listener becomes 0, and *failed counts it.
enum rd_table_end rd_table_offer(struct rd_table_channel *channel, const struct rd_specs *local,
                                 struct rd_specs *remote, void (*warn)(const char *text), size_t *failed,
                                 struct rd_error *error);

// The table of the far end. Clear it in any case.
struct rd_table {
  struct rd_place *targets;
  size_t target_count;
  struct rd_forward_listener *listeners;
  size_t listener_count;
};

enum rd_table_end rd_table_accept(struct rd_table_channel *channel, struct rd_table *table, struct rd_error *error);
void rd_table_clear(struct rd_table *table);

#endif
