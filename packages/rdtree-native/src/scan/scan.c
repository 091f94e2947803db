// SPDX-License-Identifier: Apache-2.0
#include "scan/scan.h"

bool rd_tree_scan(const struct rd_tree_settings *settings, int in_fd, int out_fd, struct rd_error *error) {
  (void)settings, (void)in_fd, (void)out_fd;
  rd_error_set(error, RD_CODE_INTERNAL, "scan is not made yet");
  return false;
}
