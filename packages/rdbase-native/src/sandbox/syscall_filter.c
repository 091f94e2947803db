// SPDX-License-Identifier: Apache-2.0
#include "sandbox/syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#define ARCHITECTURE 0u
#endif

#define X32_BIT 0x40000000u
#define RDMA_IOCTLS 0x1b00u // the second byte of every RDMA ioctl
#define CLONE_A_THREAD 0x00010000u
#define SOCKET_KINDS 0xfu // the other bits are flags
#ifndef F_SETSIG
#define F_SETSIG 10
#endif
#ifndef F_SETOWN_EX
#define F_SETOWN_EX 15
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

// Allowed with any arguments. An old kernel compares one number after the other, so the calls made for every message
// come first.
static const int allowed[] = {
    SYS_read, SYS_write, SYS_ppoll, SYS_recvmsg, SYS_recvfrom, SYS_futex, SYS_lseek, SYS_clock_gettime, SYS_sched_yield,
    SYS_epoll_pwait,
#ifdef SYS_open // old calls, which newer architectures never had
    SYS_poll, SYS_epoll_wait, SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_dup2, SYS_readlink, SYS_getdents, SYS_pipe,
    SYS_select, SYS_epoll_create, SYS_eventfd, SYS_signalfd, SYS_time, SYS_getpgrp, SYS_pause, SYS_arch_prctl,
#endif
    // descriptors
    SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_preadv, SYS_pwritev, SYS_preadv2, SYS_pwritev2, SYS_close,
    SYS_close_range, SYS_dup, SYS_dup3, SYS_pipe2, SYS_splice, SYS_vmsplice, SYS_tee, SYS_sendfile, SYS_copy_file_range,
    SYS_eventfd2, SYS_signalfd4, SYS_epoll_create1, SYS_epoll_ctl, SYS_pselect6, SYS_timerfd_create,
    SYS_timerfd_settime, SYS_timerfd_gettime,
    // files; landlock.c restricts which ones
    SYS_openat, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_faccessat, SYS_readlinkat,
    SYS_getdents64, SYS_getcwd, SYS_ftruncate, SYS_fallocate, SYS_fsync, SYS_fdatasync, SYS_sync_file_range,
    SYS_fadvise64, SYS_cachestat, SYS_umask, SYS_flock, SYS_getxattr, SYS_lgetxattr, SYS_fgetxattr, SYS_listxattr,
    SYS_llistxattr, SYS_flistxattr,
#ifdef SYS_openat2
    SYS_openat2,
#endif
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
    // memory
    SYS_munmap, SYS_mremap, SYS_brk, SYS_madvise, SYS_mincore, SYS_msync, SYS_mlock, SYS_munlock, SYS_mlock2,
    SYS_membarrier, SYS_mbind, SYS_get_mempolicy, SYS_set_mempolicy,
    // threads, signals, time
    SYS_exit, SYS_exit_group, SYS_set_tid_address, SYS_set_robust_list, SYS_get_robust_list, SYS_rseq, SYS_gettid,
    SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_sched_getparam, SYS_sched_getscheduler,
    SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_getcpu, SYS_rt_sigaction, SYS_rt_sigprocmask,
    SYS_rt_sigreturn, SYS_rt_sigpending, SYS_rt_sigtimedwait, SYS_rt_sigsuspend, SYS_sigaltstack, SYS_restart_syscall,
    SYS_pidfd_open, SYS_wait4, SYS_waitid, SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_getres, SYS_gettimeofday,
    SYS_times,
    // identity and environment
    SYS_getpid, SYS_getppid, SYS_getpgid, SYS_getsid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getgroups,
    SYS_capget, SYS_getrusage, SYS_sysinfo, SYS_uname, SYS_getrandom,
    // Landlock, whose second step comes later: 444 to 446 on every architecture
    444, 445, 446};

static const int of_network[] = {SYS_connect,    SYS_bind,        SYS_listen,      SYS_accept,
                                 SYS_accept4,    SYS_getsockname, SYS_getpeername, SYS_getsockopt,
                                 SYS_setsockopt, SYS_shutdown,    SYS_recvmmsg};

static const int of_removal[] = {
#ifdef SYS_unlink
    SYS_unlink,
#endif
    SYS_unlinkat};

// Calls for replacing a file by a new one that keeps what the old one had.
static const int of_writing[] = {
#ifdef SYS_rename
    SYS_rename,    SYS_link,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
    SYS_renameat2, SYS_linkat, SYS_fchmod, SYS_fchown, SYS_fsetxattr, SYS_fremovexattr};

// Calls for creating a tree of files.
static const int of_tree[] = {
#ifdef SYS_chmod
    SYS_chmod,        SYS_chown,
#endif
    SYS_fchmodat,     SYS_fchownat, SYS_utimensat, SYS_setxattr,  SYS_lsetxattr, SYS_removexattr,
    SYS_lremovexattr, SYS_mkdirat,  SYS_mknodat,   SYS_symlinkat, SYS_syncfs};

// Calls that neither rdpipe nor a library that it uses ever makes.
static const int hostile[] = {
    // starting programs, other processes
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp,
#ifdef SYS_fork
    SYS_fork, SYS_vfork,
#endif
    // the kernel, keys
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_add_key, SYS_request_key, SYS_keyctl, SYS_init_module,
    SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_syslog,
    SYS_settimeofday, SYS_clock_settime, SYS_sethostname, SYS_setdomainname,
#ifdef SYS_iopl
    SYS_iopl, SYS_ioperm,
#endif
    // mounts, namespaces, file handles; the numbers: open_tree, move_mount, fsopen to fspick, pidfd_getfd,
    // mount_setattr
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_setns, SYS_unshare, SYS_open_by_handle_at, 428, 429, 430,
    431, 432, 433, 438, 442};

static const uint32_t ioctls[] = {TCGETS,        TIOCGWINSZ,  FIONREAD,      FIONBIO,     TIOCOUTQ,
                                  SIOCGIFINDEX,  SIOCGIFNAME, SIOCGIFCONF,   SIOCGIFADDR, SIOCGIFFLAGS,
                                  SIOCGIFHWADDR, SIOCGIFMTU,  SIOCGIFNETMASK};

struct filter {
  struct sock_filter *code; // room for RD_SYSCALL_FILTER_MAX instructions
  size_t count;
};

static void allow_all(struct filter *filter, const int *calls, size_t count);
static void allow_files(struct filter *filter, enum rd_syscall_files files);
static void check_processor(struct filter *filter);
static void check_sending(struct filter *filter);
static void check_descriptors(struct filter *filter);
static void check_memory(struct filter *filter);
static void check_threads(struct filter *filter);
static void check_sockets(struct filter *filter, bool local);
static void check_ioctls(struct filter *filter, const struct rd_syscall_profile *profile);
static void check_signals(struct filter *filter, const struct rd_syscall_profile *profile);
static size_t begin_case(struct filter *filter, uint32_t value);
static void end_case(struct filter *filter, size_t begun, uint32_t otherwise);
static void load(struct filter *filter, unsigned argument, bool high_half);
static void unless_equal(struct filter *filter, uint32_t value, uint32_t result);
static void when_equal(struct filter *filter, uint32_t value, uint32_t result);
static void return_result(struct filter *filter, uint32_t result);
static void append(struct filter *filter, uint16_t code, uint8_t if_true, uint8_t if_false, uint32_t value);

#define REFUSED (SECCOMP_RET_ERRNO | EPERM)
#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS)

// A kernel with filters looks for the filter, which has no address here.
bool rd_syscall_filter_is_possible(void) {
  return ARCHITECTURE != 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) < 0 && errno == EFAULT;
}

bool rd_syscall_filter_install(const struct rd_syscall_profile *profile) {
  if (ARCHITECTURE == 0) return false;
  struct sock_filter code[RD_SYSCALL_FILTER_MAX];
  struct sock_fprog program = {.len = (unsigned short)rd_syscall_filter_write(profile, code), .filter = code};
  // Without SPEC_ALLOW a filter turns on speculation mitigations for this process. They slow down every system call,
  // and protect only from other code in the same process, of which there is none.
  const unsigned long flags = SECCOMP_FILTER_FLAG_TSYNC;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return false;
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0 ||
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
}

size_t rd_syscall_filter_write(const struct rd_syscall_profile *profile, struct sock_filter *code) {
  struct filter writing = {.code = code}, *filter = &writing;
  check_processor(filter);
  check_sending(filter);
  allow_all(filter, allowed, sizeof allowed / sizeof *allowed);
  allow_files(filter, profile->files);
  if (profile->tree)
    when_equal(filter, SYS_memfd_create, SECCOMP_RET_ALLOW); // saves work for later
  else
    allow_all(filter, of_network, sizeof of_network / sizeof *of_network);
  check_descriptors(filter);
  check_memory(filter);
  check_threads(filter);
  if (!profile->tree) check_sockets(filter, profile->local);
  check_ioctls(filter, profile);
  check_signals(filter, profile);
  for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
    when_equal(filter, (uint32_t)hostile[i], SECCOMP_RET_KILL_PROCESS);
  // The C library then works without the call, as on an older kernel.
  return_result(filter, UNKNOWN);
  return filter->count;
}

static void allow_all(struct filter *filter, const int *calls, size_t count) {
  for (size_t i = 0; i < count; i++) when_equal(filter, (uint32_t)calls[i], SECCOMP_RET_ALLOW);
}

static void allow_files(struct filter *filter, enum rd_syscall_files files) {
  if (files >= RD_FILES_REMOVE) allow_all(filter, of_removal, sizeof of_removal / sizeof *of_removal);
  if (files >= RD_FILES_WRITE) allow_all(filter, of_writing, sizeof of_writing / sizeof *of_writing);
  if (files >= RD_FILES_TREE) allow_all(filter, of_tree, sizeof of_tree / sizeof *of_tree);
}

// System call numbers depend on the architecture, so that is checked first. Loads the number of the call.
static void check_processor(struct filter *filter) {
  append(filter, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
  unless_equal(filter, ARCHITECTURE, SECCOMP_RET_KILL_PROCESS);
  append(filter, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
  append(filter, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32_BIT);
  return_result(filter, SECCOMP_RET_KILL_PROCESS);
}

// MSG_FASTOPEN connects without Landlock's rule for connections. These calls are frequent, so they come first.
static void check_sending(struct filter *filter) {
  static const struct {
    int call;
    unsigned flags_argument;
  } sending[] = {{SYS_sendmsg, 2}, {SYS_sendto, 3}, {SYS_sendmmsg, 3}};
  for (size_t i = 0; i < sizeof sending / sizeof *sending; i++) {
    size_t call = begin_case(filter, (uint32_t)sending[i].call);
    load(filter, sending[i].flags_argument, false);
    append(filter, BPF_JMP | BPF_JSET | BPF_K, 0, 1, MSG_FASTOPEN);
    return_result(filter, REFUSED);
    end_case(filter, call, SECCOMP_RET_ALLOW);
  }
}

// A descriptor that has another process as its owner sends it signals.
static void check_descriptors(struct filter *filter) {
  size_t call = begin_case(filter, SYS_fcntl);
  load(filter, 1, false);
  when_equal(filter, F_SETOWN, REFUSED);
  when_equal(filter, F_SETOWN_EX, REFUSED);
  when_equal(filter, F_SETSIG, REFUSED);
  end_case(filter, call, SECCOMP_RET_ALLOW);
}

// Forbids memory that is both writable and executable.
static void check_memory(struct filter *filter) {
  static const int calls[] = {SYS_mmap, SYS_mprotect};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    size_t call = begin_case(filter, (uint32_t)calls[i]);
    load(filter, 2, false);
    append(filter, BPF_ALU | BPF_AND | BPF_K, 0, 0, PROT_WRITE | PROT_EXEC);
    when_equal(filter, PROT_WRITE | PROT_EXEC, REFUSED);
    end_case(filter, call, SECCOMP_RET_ALLOW);
  }
}

// A filter cannot see the flags of clone3, so clone3 gets ENOSYS, and the C library uses clone.
static void check_threads(struct filter *filter) {
  size_t call = begin_case(filter, SYS_clone);
  load(filter, 0, false);
  append(filter, BPF_JMP | BPF_JSET | BPF_K, 0, 1, CLONE_A_THREAD);
  return_result(filter, SECCOMP_RET_ALLOW);
  end_case(filter, call, REFUSED);
  // Limits may be read, not set; the dumpable flag cannot change.
  call = begin_case(filter, SYS_prlimit64);
  for (unsigned half = 0; half < 2; half++) {
    load(filter, 2, half != 0);
    unless_equal(filter, 0, REFUSED);
  }
  end_case(filter, call, SECCOMP_RET_ALLOW);
  call = begin_case(filter, SYS_prctl);
  load(filter, 0, false);
  when_equal(filter, PR_SET_NAME, SECCOMP_RET_ALLOW);
  when_equal(filter, PR_GET_DUMPABLE, SECCOMP_RET_ALLOW);
  when_equal(filter, PR_SET_VMA, SECCOMP_RET_ALLOW);
  when_equal(filter, PR_SET_NO_NEW_PRIVS, SECCOMP_RET_ALLOW);
  end_case(filter, call, REFUSED);
}

// Allows streams, datagrams for name resolution, and netlink for interfaces and RDMA. MPTCP is refused: Landlock's
// rules for TCP do not apply to it.
static void check_sockets(struct filter *filter, bool local) {
  static const uint32_t internet[] = {AF_INET, AF_INET6};
  size_t call = begin_case(filter, SYS_socket);
  load(filter, 0, false);
  if (local) when_equal(filter, AF_UNIX, SECCOMP_RET_ALLOW);
  for (size_t i = 0; i < sizeof internet / sizeof *internet; i++) {
    size_t family = begin_case(filter, internet[i]);
    load(filter, 1, false);
    append(filter, BPF_ALU | BPF_AND | BPF_K, 0, 0, SOCKET_KINDS);
    append(filter, BPF_JMP | BPF_JEQ | BPF_K, 2, 0, SOCK_STREAM);
    append(filter, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, SOCK_DGRAM);
    return_result(filter, REFUSED);
    load(filter, 2, false);
    when_equal(filter, 0, SECCOMP_RET_ALLOW);
    when_equal(filter, IPPROTO_TCP, SECCOMP_RET_ALLOW);
    when_equal(filter, IPPROTO_UDP, SECCOMP_RET_ALLOW);
    end_case(filter, family, REFUSED);
  }
  size_t netlink = begin_case(filter, AF_NETLINK);
  load(filter, 2, false);
  when_equal(filter, NETLINK_ROUTE, SECCOMP_RET_ALLOW);
  when_equal(filter, NETLINK_RDMA, SECCOMP_RET_ALLOW);
  end_case(filter, netlink, REFUSED);
  end_case(filter, call, REFUSED);
}

// TIOCSTI, which types into a terminal, is not among the allowed ones.
static void check_ioctls(struct filter *filter, const struct rd_syscall_profile *profile) {
  size_t call = begin_case(filter, SYS_ioctl);
  load(filter, 1, false);
  for (size_t i = 0; i < sizeof ioctls / sizeof *ioctls; i++) when_equal(filter, ioctls[i], SECCOMP_RET_ALLOW);
  if (profile->files == RD_FILES_TREE) when_equal(filter, FICLONE, SECCOMP_RET_ALLOW);
  if (profile->rdma) {
    append(filter, BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xff00u);
    when_equal(filter, RDMA_IOCTLS, SECCOMP_RET_ALLOW);
  }
  end_case(filter, call, REFUSED);
}

// Allows signals to this process and to the processes of the profile.
static void check_signals(struct filter *filter, const struct rd_syscall_profile *profile) {
  size_t call = begin_case(filter, SYS_tgkill);
  load(filter, 0, false);
  when_equal(filter, (uint32_t)getpid(), SECCOMP_RET_ALLOW);
  end_case(filter, call, REFUSED);
  call = begin_case(filter, SYS_pidfd_send_signal); // signal 0 checks whether the process exists
  load(filter, 1, false);
  when_equal(filter, 0, SECCOMP_RET_ALLOW);
  if (profile->kills) when_equal(filter, SIGKILL, SECCOMP_RET_ALLOW);
  end_case(filter, call, REFUSED);
  call = begin_case(filter, SYS_kill);
  load(filter, 0, false);
  when_equal(filter, (uint32_t)-1, REFUSED); // all processes
  if (profile->group > 0) when_equal(filter, (uint32_t)-profile->group, SECCOMP_RET_ALLOW);
  if (profile->child > 0) when_equal(filter, (uint32_t)profile->child, SECCOMP_RET_ALLOW);
  load(filter, 1, false);
  if (profile->kills) when_equal(filter, SIGKILL, SECCOMP_RET_ALLOW);
  end_case(filter, call, REFUSED);
}

// The instructions up to end_case() apply if the value loaded last is `value`. They may load other values, and end with
// a return.
static size_t begin_case(struct filter *filter, uint32_t value) {
  append(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, value);
  return filter->count - 1;
}

static void end_case(struct filter *filter, size_t begun, uint32_t otherwise) {
  return_result(filter, otherwise);
  filter->code[begun].jf = (uint8_t)(filter->count - begun - 1);
}

// Loads one half of an argument of the call.
static void load(struct filter *filter, unsigned argument, bool high_half) {
  bool is_second = high_half == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  size_t at = offsetof(struct seccomp_data, args) + 8 * argument + (is_second ? 4 : 0);
  append(filter, BPF_LD | BPF_W | BPF_ABS, 0, 0, (uint32_t)at);
}

static void unless_equal(struct filter *filter, uint32_t value, uint32_t result) {
  append(filter, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, value);
  return_result(filter, result);
}

static void when_equal(struct filter *filter, uint32_t value, uint32_t result) {
  append(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
  return_result(filter, result);
}

static void return_result(struct filter *filter, uint32_t result) {
  append(filter, BPF_RET | BPF_K, 0, 0, result);
}

// A filter that does not fit ends without a return: the kernel rejects it, and the test suite fails.
static void append(struct filter *filter, uint16_t code, uint8_t if_true, uint8_t if_false, uint32_t value) {
  if (filter->count == RD_SYSCALL_FILTER_MAX) return;
  filter->code[filter->count++] = (struct sock_filter){code, if_true, if_false, value};
}
