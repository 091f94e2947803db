// SPDX-License-Identifier: Apache-2.0
// Merges the lines of several inputs into one output: each as it comes, or input after input.
#ifndef RD_GATHER_MERGE_H
#define RD_GATHER_MERGE_H

#include <stdbool.h>
#include <stddef.h>

struct rd_merge_settings {
  bool by_host; // one input after another, else line by line
  int first_fd; // of `count` inputs, one after the other
  size_t count;
  const char *const *labels; // each line begins with its input's; NULL: none
  int out_fd;
};

// Until all inputs are at their end, where each is closed. False: errno says why it could not go on.
bool rd_merge(const struct rd_merge_settings *settings);

#endif
