// SPDX-License-Identifier: Apache-2.0
// Merges the lines of several inputs into one output: each as it arrives, or input after input.
#ifndef RD_GATHER_MERGE_H
#define RD_GATHER_MERGE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct rd_merge_settings {
  bool by_host; // one input after another; otherwise line by line
  int first_fd; // the first of `count` consecutive input descriptors
  size_t count;
  const char *const *labels; // the prefix of each input's lines, or its host's name for rd_fold(); NULL: none
  int out_fd;
};

// Runs until all inputs have ended, and closes each at its end. Returns false if a system call fails.
bool rd_merge(const struct rd_merge_settings *settings, struct rd_error *error);

#endif
