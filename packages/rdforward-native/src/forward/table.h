// SPDX-License-Identifier: Apache-2.0
// The beginning of a forward: what may be dialled, where to listen, and the answers.
#ifndef RD_FORWARD_TABLE_H
#define RD_FORWARD_TABLE_H

#include "forward/byte_queue.h"
#include "forward/listener.h"
#include "forward/specs.h"

struct rd_table_channel {
  int in_fd, out_fd, signal_fd;  // signal_fd: -1: none
  struct rd_byte_queue received; // what came behind the table; the caller frees it
};

enum rd_table_end {
  RD_TABLE_AGREED,
  RD_TABLE_SIGNALLED,
  RD_TABLE_LOST,   // the other end has gone
  RD_TABLE_FAILED, // *error: a listener, or bytes that are no table
};

// Of the near end: `local` are those of -L, `remote` those of -R, whose ports become those that the far end has.
enum rd_table_end rd_table_offer(struct rd_table_channel *channel, const struct rd_specs *local,
                                 struct rd_specs *remote, struct rd_error *error);

// Of the far end, to be cleared in any case.
struct rd_table {
  struct rd_place *targets;
  size_t target_count;
  struct rd_forward_listener *listeners;
  size_t listener_count;
};

enum rd_table_end rd_table_accept(struct rd_table_channel *channel, struct rd_table *table, struct rd_error *error);
void rd_table_clear(struct rd_table *table);

#endif
