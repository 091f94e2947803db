// SPDX-License-Identifier: Apache-2.0
// Tests of hosts where orphans cannot be found.
#include "process/orphans.h"
#include "test.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// As on a kernel that does not know the operation. Other operations of prctl() still work.
static void take_subreaper_away(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
               offsetof(struct seccomp_data, args)), // the low half: both CPUs are little-endian
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_CHILD_SUBREAPER, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  REQUIRE(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  REQUIRE(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

int main(void) {
  struct rd_error error;
  int adopts = 0;
  CHECK(rd_orphans_adopt(&error));
  CHECK(!prctl(PR_GET_CHILD_SUBREAPER, &adopts) && adopts == 1);
  take_subreaper_away();
  CHECK(!rd_orphans_adopt(&error) && strstr(error.message, "no PR_SET_CHILD_SUBREAPER") != NULL);
  return test_end("rdstage orphans");
}
