// SPDX-License-Identifier: Apache-2.0
#include "process/orphans.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static pid_t own_pid_in_proc(void);

bool rd_orphans_adopt(struct rd_error *error) {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1)) {
    rd_error_set_errno(error, RD_CODE_INTERNAL,
                       "what commands leave running here could not be ended: no PR_SET_CHILD_SUBREAPER");
    return false;
  }
  if (own_pid_in_proc() == getpid()) return true;
  rd_error_set(error, RD_CODE_INTERNAL,
               "what commands leave running here could not be ended: /proc is not that of this pid namespace (run "
               "there: mount -t proc proc /proc)");
  return false;
}

// Returns 0 if /proc does not show this process.
static pid_t own_pid_in_proc(void) {
  char text[32];
  ssize_t bytes = readlink("/proc/self", text, sizeof text - 1);
  if (bytes <= 0) return 0;
  text[bytes] = '\0';
  return (pid_t)strtol(text, NULL, 10);
}
