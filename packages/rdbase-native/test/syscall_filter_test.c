// SPDX-License-Identifier: Apache-2.0
// The system call filter, run by an interpreter: so it is tested for every architecture, even if this kernel does not
// support filters.
#include "sandbox/syscall_filter.h"

#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
#define OWN AUDIT_ARCH_X86_64
#define FOREIGN AUDIT_ARCH_AARCH64
#elif defined __aarch64__
#define OWN AUDIT_ARCH_AARCH64
#define FOREIGN AUDIT_ARCH_ARM // 32-bit programs have other numbers
#else
#define OWN 0u
#define FOREIGN AUDIT_ARCH_X86_64
#endif

#define ALLOW SECCOMP_RET_ALLOW
#define KILL SECCOMP_RET_KILL_PROCESS
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS)
#define A_THREAD 0x3d0f00u    // the flags of pthread_create() for clone(2)
#define A_PROCESS 0x01200011u // those of fork()

static struct sock_filter code[RD_SYSCALL_FILTER_MAX];
static size_t count;

// Returns the kernel's answer to this call. Fails on a filter that the kernel would not accept.
static uint32_t answer(const struct seccomp_data *data) {
  uint32_t value = 0;
  for (size_t at = 0; at < count; at++) {
    const struct sock_filter *step = &code[at];
    switch (step->code) {
    case BPF_LD | BPF_W | BPF_ABS:
      if (!CHECK(step->k % 4 == 0 && step->k < sizeof *data)) return 0;
      memcpy(&value, (const char *)data + step->k, sizeof value);
      break;
    case BPF_ALU | BPF_AND | BPF_K:
      value &= step->k;
      break;
    case BPF_JMP | BPF_JEQ | BPF_K:
      at += value == step->k ? step->jt : step->jf;
      break;
    case BPF_JMP | BPF_JGE | BPF_K:
      at += value >= step->k ? step->jt : step->jf;
      break;
    case BPF_JMP | BPF_JSET | BPF_K:
      at += (value & step->k) != 0 ? step->jt : step->jf;
      break;
    case BPF_RET | BPF_K:
      return step->k;
    default:
      REQUIRE(step->code == 0); // not an instruction that the filter uses
    }
  }
  REQUIRE(count == 0); // the filter has no end
  return 0;
}

static uint32_t answer_to(long call, uint64_t first, uint64_t second, uint64_t third) {
  return answer(&(struct seccomp_data){.nr = (int)call, .arch = OWN, .args = {first, second, third}});
}

static uint32_t answer_to_flags(long call, uint64_t flags) {
  return answer(&(struct seccomp_data){.nr = (int)call, .arch = OWN, .args = {3, 0, 0, flags}});
}

struct call {
  long number;
  uint32_t answer;
  uint64_t arguments[3];
};

static void check_all(const struct call *calls, size_t calls_count) {
  for (const struct call *call = calls; call < calls + calls_count; call++) {
    uint32_t got = answer_to(call->number, call->arguments[0], call->arguments[1], call->arguments[2]);
    if (!CHECK(got == call->answer)) fprintf(stderr, "call %ld: %#x, not %#x\n", call->number, got, call->answer);
  }
}

#define CHECK_ALL(calls) check_all(calls, sizeof calls / sizeof *calls)

static void write_for(const struct rd_syscall_profile *profile) {
  memset(code, 0xff, sizeof code);
  count = rd_syscall_filter_write(profile, code);
  CHECK(count > 0 && count < RD_SYSCALL_FILTER_MAX);
}

static void test_every_program(void) {
  // On arm64 the C library has only these calls; on x86 it also has older ones.
  static const int newer[] = {
      SYS_read,
      SYS_write,
      SYS_openat,
      SYS_close,
      SYS_ppoll,
      SYS_epoll_pwait,
      SYS_epoll_create1,
      SYS_pselect6,
      SYS_pipe2,
      SYS_dup3,
      SYS_eventfd2,
      SYS_faccessat,
      SYS_newfstatat,
      SYS_fstat,
      SYS_readlinkat,
      SYS_getdents64,
      SYS_futex,
      SYS_clock_nanosleep,
      SYS_rt_sigreturn,
      SYS_exit_group,
      SYS_brk,
      SYS_getrandom,
      SYS_sched_getaffinity,
      SYS_set_robust_list,
      SYS_rseq,
  };
  static const struct call calls[] = {
      {SYS_clone, ALLOW, {A_THREAD}},
      {SYS_clone, REFUSE, {A_PROCESS}},
      {SYS_clone3, UNKNOWN, {0}},
      {SYS_mmap, ALLOW, {0, 4096, PROT_READ | PROT_WRITE}},
      {SYS_mmap, REFUSE, {0, 4096, PROT_WRITE | PROT_EXEC}},
      {SYS_mprotect, REFUSE, {0, 4096, PROT_WRITE | PROT_EXEC}},
      {SYS_mprotect, ALLOW, {0, 4096, PROT_READ | PROT_EXEC}},
      {SYS_prlimit64, ALLOW, {0, 7, 0}},
      {SYS_prlimit64, REFUSE, {0, 7, 0x100000000}},
      {SYS_prctl, REFUSE, {PR_SET_DUMPABLE}},
      {SYS_ioctl, REFUSE, {0, 0x5412}},
      {SYS_tgkill, REFUSE, {1}},
      {SYS_fcntl, ALLOW, {0, F_SETFL, O_NONBLOCK}},
      {SYS_fcntl, REFUSE, {0, F_SETOWN, 1}},
      {SYS_fcntl, REFUSE, {0, 15, 1}},       // F_SETOWN_EX
      {SYS_fcntl, REFUSE, {0, 10, SIGKILL}}, // F_SETSIG
      {SYS_sendmsg, ALLOW, {3, 0, MSG_NOSIGNAL}},
      {SYS_sendmsg, REFUSE, {3, 0, MSG_NOSIGNAL | MSG_FASTOPEN}},
      {SYS_io_uring_setup, UNKNOWN, {0}},
      {SYS_execve, KILL, {0}},
      {SYS_ptrace, KILL, {0}},
      {SYS_bpf, KILL, {0}},
      {SYS_mount, KILL, {0}},
      {SYS_unshare, KILL, {0}},
      {SYS_process_vm_readv, KILL, {0}},
  };
  for (size_t i = 0; i < sizeof newer / sizeof *newer; i++) CHECK(answer_to(newer[i], 0, 0, 0) == ALLOW);
  CHECK_ALL(calls);
  CHECK(answer_to_flags(SYS_sendto, 0) == ALLOW && answer_to_flags(SYS_sendto, MSG_FASTOPEN) == REFUSE);
  CHECK(answer_to_flags(SYS_sendmmsg, MSG_FASTOPEN) == REFUSE);
  CHECK(answer_to(SYS_tgkill, (uint64_t)getpid(), 0, 0) == ALLOW);
  CHECK(answer(&(struct seccomp_data){.nr = SYS_read, .arch = FOREIGN}) == KILL);
  CHECK(answer_to(SYS_read | 0x40000000, 0, 0, 0) == KILL); // x32
}

static void test_hops(void) {
  static const struct call calls[] = {
      {SYS_socket, ALLOW, {AF_INET6, SOCK_STREAM | SOCK_CLOEXEC}},
      {SYS_socket, ALLOW, {AF_INET, SOCK_STREAM, IPPROTO_TCP}},
      {SYS_socket, ALLOW, {AF_INET, SOCK_DGRAM, IPPROTO_UDP}},
      {SYS_socket, REFUSE, {AF_INET, SOCK_STREAM, 262}}, // MPTCP
      {SYS_socket, REFUSE, {AF_UNIX, SOCK_STREAM}},
      {SYS_socket, REFUSE, {AF_INET, SOCK_RAW}},
      {SYS_socket, REFUSE, {AF_PACKET, SOCK_DGRAM}},
      {SYS_connect, ALLOW, {0}},
      {SYS_accept4, ALLOW, {0}},
      {SYS_mkdirat, UNKNOWN, {0}},
      {SYS_kill, REFUSE, {1, SIGKILL}},
  };
  CHECK_ALL(calls);
}

// Each value of rd_syscall_files allows more.
static void test_files(void) {
  static const struct {
    long call;
    enum rd_syscall_files from;
  } calls[] = {
      {SYS_unlinkat, RD_FILES_REMOVE},    {SYS_renameat2, RD_FILES_WRITE},   {SYS_linkat, RD_FILES_WRITE},
      {SYS_fchmod, RD_FILES_WRITE},       {SYS_fchown, RD_FILES_WRITE},      {SYS_fsetxattr, RD_FILES_WRITE},
      {SYS_fremovexattr, RD_FILES_WRITE}, {SYS_fchmodat, RD_FILES_TREE},     {SYS_fchownat, RD_FILES_TREE},
      {SYS_utimensat, RD_FILES_TREE},     {SYS_setxattr, RD_FILES_TREE},     {SYS_lsetxattr, RD_FILES_TREE},
      {SYS_removexattr, RD_FILES_TREE},   {SYS_lremovexattr, RD_FILES_TREE}, {SYS_mkdirat, RD_FILES_TREE},
      {SYS_mknodat, RD_FILES_TREE},       {SYS_symlinkat, RD_FILES_TREE},
  };
  for (enum rd_syscall_files files = RD_FILES_READ; files <= RD_FILES_TREE; files++) {
    write_for(&(struct rd_syscall_profile){.files = files});
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
      uint32_t got = answer_to(calls[i].call, 0, 0, 0);
      if (!CHECK(got == (files >= calls[i].from ? ALLOW : UNKNOWN)))
        fprintf(stderr, "call %ld with files %d: %#x\n", calls[i].call, files, got);
    }
  }
}

static void test_trees(void) {
  static const struct call calls[] = {
      {SYS_socket, UNKNOWN, {AF_UNIX, SOCK_STREAM}},
      {SYS_connect, UNKNOWN, {0}},
      {SYS_mkdirat, ALLOW, {0}},
      {SYS_symlinkat, ALLOW, {0}},
      {SYS_mknodat, ALLOW, {0}},
  };
  CHECK_ALL(calls);
}

int main(void) {
  if (OWN == 0) return test_end("syscall_filter (no filter for this processor)");
  write_for(&(struct rd_syscall_profile){.rdma = true});
  test_every_program();
  test_hops();
  write_for(&(struct rd_syscall_profile){.kills = true});
  CHECK(answer_to(SYS_kill, 1000, SIGKILL, 0) == ALLOW && answer_to(SYS_kill, 1000, SIGTERM, 0) == REFUSE);
  write_for(&(struct rd_syscall_profile){.local = true});
  CHECK(answer_to(SYS_socket, AF_UNIX, SOCK_STREAM, 0) == ALLOW);
  test_files();
  write_for(&(struct rd_syscall_profile){.files = RD_FILES_TREE, .rdma = true, .tree = true});
  test_every_program();
  test_trees();
  return test_end("syscall_filter");
}
