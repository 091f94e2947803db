// SPDX-License-Identifier: Apache-2.0
// The output of rdsend and rdrecv on standard error: lines and live rows for users, JSON for scripts.
// Only this file and the programs' main function print.
#ifndef RD_CLI_DISPLAY_H
#define RD_CLI_DISPLAY_H

#include "cli/options.h"

#include <stdint.h>

struct rd_display {
  const struct rd_options *options;
  const char *program;
  enum rd_progress progress; // never RD_PROGRESS_AUTO
  bool row_shown;            // a live row is on the terminal
  int64_t started_at_ms;     // when the connection was made
  int64_t shown_at_ms;
  uint64_t shown_bytes;
  struct rd_waits waits; // from the last RD_EVENT_COUNTERS
  int64_t size_bytes;    // -1: unknown
  char peer[320], transport[16], cipher[48], device[64], node[24];
};

// The options must outlive the display.
void rd_display_init(struct rd_display *display, const struct rd_options *options);
// Prints what the options ask for about this event.
void rd_display_event(struct rd_display *display, const struct rd_event *event);
// Prints a line that does not belong to an event: "rdrecv: the consumer exited with status 1".
void rd_display_line(struct rd_display *display, const char *text);

#endif
