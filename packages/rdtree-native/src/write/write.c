// SPDX-License-Identifier: Apache-2.0
#include "write/write.h"

bool rd_tree_write(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_error *error) {
  (void)settings, (void)in_fd, (void)out_fd;
  rd_error_set(error, RD_CODE_INTERNAL, "write is not made yet");
  return false;
}
