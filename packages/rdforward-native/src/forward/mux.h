// SPDX-License-Identifier: Apache-2.0
// Carries connections over two pipes to the other end of a forward, until the run ends.
#ifndef RD_FORWARD_MUX_H
#define RD_FORWARD_MUX_H

#include "base/byte_queue.h"
#include "forward/listener.h"
#include "forward/specs.h"

#include <stdbool.h>

struct rd_mux_settings {
  bool is_near;
  const struct rd_place *targets; // addresses that the other end may refer to, by index
  size_t target_count;
  struct rd_forward_listener *listeners;
  size_t listener_count;
  int in_fd, out_fd;             // non-blocking pipes
  int signal_fd;                 // readable when the run must end; -1: none
  struct rd_byte_queue received; // bytes that followed the table; the mux frees them
  // Reports, in one line, that the other end could not establish a connection of this end.
  void (*warn)(const char *text);
};

enum rd_mux_end {
  RD_MUX_SIGNALLED, // the other end was notified, if its pipe took the record
  RD_MUX_BYE,       // the other end ended the run
  RD_MUX_LOST,      // a pipe ended before
  RD_MUX_FAILED,    // see *error
};

// Returns when the run is over and all connections were cut.
enum rd_mux_end rd_mux_run(const struct rd_mux_settings *settings, struct rd_error *error);

#endif
