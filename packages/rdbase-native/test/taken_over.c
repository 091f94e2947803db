// SPDX-License-Identifier: Apache-2.0
#include "taken_over.h"

#include "base/cleanup.h"
#include "sandbox/sandbox.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define KILL_BY_PIDFD 424
#define OPEN_PIDFD 434
#define CHMOD_2 452       // fchmodat2
#define SET_ATTRIBUTE 463 // setxattrat
#define SET_FILE_ATTRIBUTES 469
#define LANDLOCK_CREATE 444

struct taken_over_places taken_over_places;
static const struct taken_over_places *const at = &taken_over_places;
static pid_t stranger;
static int listeners[2], local_listener, abstract_listener;
static struct sockaddr_un local = {.sun_family = AF_UNIX}, abstract = {.sun_family = AF_UNIX};
static socklen_t abstract_bytes;

// Starting programs, other processes, the kernel

static bool try_execve(void) {
  char *words[] = {"/bin/true", NULL};
  return execv(words[0], words) == 0;
}

static bool try_execveat(void) {
  return syscall(SYS_execveat, -1, "/bin/true", NULL, NULL, 0) == 0;
}

static bool try_ptrace(void) {
  return ptrace(PTRACE_ATTACH, stranger, NULL, NULL) == 0;
}

static bool try_read_memory(void) {
  char byte;
  struct iovec here = {&byte, 1}, there = {&byte, 1};
  return process_vm_readv(stranger, &here, 1, &there, 1, 0) == 1;
}

static bool try_write_memory(void) {
  char byte = 0;
  struct iovec here = {&byte, 1}, there = {&byte, 1};
  return process_vm_writev(stranger, &here, 1, &there, 1, 0) == 1;
}

static bool try_proc(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/status", (int)getppid());
  RD_AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
  return fd >= 0;
}

static bool try_fork(void) {
  pid_t pid = fork();
  if (pid == 0) _exit(0);
  return pid > 0;
}

#define CALL(name, ...)                                                                                                \
  static bool name(void) {                                                                                             \
    return syscall(__VA_ARGS__) >= 0;                                                                                  \
  }
CALL(try_clone3, SYS_clone3, NULL, 0)
CALL(try_pidfd_getfd, 438, -1, 0, 0)
CALL(try_bpf, SYS_bpf, 0, NULL, 0)
CALL(try_perf, SYS_perf_event_open, NULL, 0, -1, -1, 0)
CALL(try_userfaultfd, SYS_userfaultfd, 0)
CALL(try_keyctl, SYS_keyctl, 0, -3, 0)
CALL(try_add_key, SYS_add_key, NULL, NULL, NULL, 0, 0)
CALL(try_request_key, SYS_request_key, NULL, NULL, NULL, 0)
CALL(try_module, SYS_init_module, NULL, 0, NULL)
CALL(try_mount, SYS_mount, "none", at->other_directory, "tmpfs", 0, NULL)
CALL(try_umount, SYS_umount2, at->other_directory, 0)
CALL(try_open_tree, 428, -1, "", 0)
CALL(try_unshare, SYS_unshare, 0)
CALL(try_setns, SYS_setns, -1, 0)
CALL(try_chroot, SYS_chroot, at->directory)
CALL(try_file_handle, SYS_open_by_handle_at, -1, NULL, 0)
CALL(try_io_uring, SYS_io_uring_setup, 1, (char[256]){0})
CALL(try_fanotify, SYS_fanotify_init, 0, 0)
CALL(try_setuid, SYS_setuid, getuid())
CALL(try_capset, SYS_capset, NULL, NULL)
CALL(try_personality, SYS_personality, 0)

static bool try_run_written(void) {
  return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static bool try_dumpable(void) {
  return prctl(PR_SET_DUMPABLE, 1) == 0;
}

static bool try_limit(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_CORE, &limit) == 0 && setrlimit(RLIMIT_CORE, &limit) == 0;
}

static bool try_typing(void) {
  return ioctl(STDIN_FILENO, TIOCSTI, "x") == 0;
}

// Signals

static bool try_kill(void) {
  return kill(stranger, SIGKILL) == 0;
}

static bool try_term(void) {
  return kill(stranger, SIGTERM) == 0;
}

static bool try_kill_all(void) {
  return kill(-1, SIGKILL) == 0;
}

static bool try_kill_thread(void) {
  return syscall(SYS_tgkill, stranger, stranger, SIGTERM) == 0;
}

static bool try_kill_by_pidfd(void) {
  RD_AUTO_CLOSE int fd = (int)syscall(OPEN_PIDFD, stranger, 0);
  return syscall(KILL_BY_PIDFD, fd, SIGTERM, NULL, 0) == 0;
}

CALL(try_queue_signal, SYS_rt_sigqueueinfo, stranger, SIGTERM, NULL)

static bool try_own(void) {
  return fcntl(listeners[0], F_SETOWN, stranger) == 0;
}

static bool try_own_ex(void) {
  struct f_owner_ex owner = {F_OWNER_PID, stranger};
  return fcntl(listeners[0], F_SETOWN_EX, &owner) == 0;
}

static bool try_set_signal(void) {
  return fcntl(listeners[0], F_SETSIG, SIGKILL) == 0;
}

static bool try_own_by_ioctl(void) {
  return ioctl(listeners[0], FIOSETOWN, &stranger) == 0;
}

// Sockets

static bool make_socket(int family, int type, int protocol) {
  RD_AUTO_CLOSE int fd = socket(family, type | SOCK_CLOEXEC, protocol);
  return fd >= 0;
}

static bool try_local(void) {
  RD_AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return fd >= 0 && connect(fd, (struct sockaddr *)&local, sizeof local) == 0;
}

static bool try_abstract(void) {
  RD_AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return fd >= 0 && connect(fd, (struct sockaddr *)&abstract, abstract_bytes) == 0;
}

static bool try_packet(void) {
  return make_socket(AF_PACKET, SOCK_DGRAM, 0);
}

static bool try_raw(void) {
  return make_socket(AF_INET6, SOCK_RAW, IPPROTO_TCP);
}

static bool try_audit(void) {
  return make_socket(AF_NETLINK, SOCK_RAW, 9);
}

static bool try_crypto(void) {
  return make_socket(38, SOCK_SEQPACKET, 0); // AF_ALG
}

static bool try_machine(void) {
  return make_socket(40, SOCK_STREAM, 0); // AF_VSOCK
}

static bool try_multipath(void) {
  return make_socket(AF_INET, SOCK_STREAM, 262);
}

static bool try_datagram(void) {
  return make_socket(AF_INET, SOCK_DGRAM, 0);
}

static struct sockaddr_in here(uint16_t port) {
  return (struct sockaddr_in){
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static bool reach(uint16_t port, int (*how)(int fd, const struct sockaddr *address, socklen_t bytes)) {
  struct sockaddr_in address = here(port);
  RD_AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return fd >= 0 && how(fd, (struct sockaddr *)&address, sizeof address) == 0;
}

static bool try_connect(void) {
  return reach(at->port, connect);
}

static bool try_other_port(void) {
  return reach(at->other_port, connect);
}

static bool try_bind(void) {
  return reach(at->port, bind); // it is in use: EADDRINUSE
}

static bool try_bind_other(void) {
  return reach(0, bind);
}

static int send_to(int fd, const struct sockaddr *address, socklen_t bytes) {
  return sendto(fd, "x", 1, MSG_FASTOPEN, address, bytes) < 0 ? -1 : 0;
}

static int send_message(int fd, const struct sockaddr *address, socklen_t bytes) {
  struct iovec byte = {"x", 1};
  struct msghdr message = {
      .msg_name = (void *)(uintptr_t)address, .msg_namelen = bytes, .msg_iov = &byte, .msg_iovlen = 1};
  return sendmsg(fd, &message, MSG_FASTOPEN) < 0 ? -1 : 0;
}

static bool try_fast_open(void) {
  return reach(at->other_port, send_to);
}

static bool try_fast_message(void) {
  return reach(at->other_port, send_message);
}

// Files

static bool open_for(const char *path, int flags) {
  RD_AUTO_CLOSE int fd = open(path, flags | O_CLOEXEC, 0600);
  return fd >= 0;
}

static const char *new_name(const char *directory) {
  static char path[96];
  snprintf(path, sizeof path, "%s/new", directory);
  return path;
}

static bool try_read(void) {
  return open_for(at->other, O_RDONLY);
}

static bool try_list(void) {
  return open_for(at->other_directory, O_RDONLY | O_DIRECTORY);
}

static bool try_read_users(void) {
  return open_for("/etc/passwd", O_RDONLY);
}

static bool try_write(void) {
  return open_for(at->other, O_WRONLY);
}

static bool try_create(void) {
  return open_for(new_name(at->other_directory), O_WRONLY | O_CREAT);
}

static bool try_remove(void) {
  return unlinkat(AT_FDCWD, at->other, 0) == 0;
}

static bool try_move_out(void) {
  return renameat(AT_FDCWD, at->file, AT_FDCWD, at->other) == 0;
}

static bool try_link(void) {
  return linkat(AT_FDCWD, at->other, AT_FDCWD, new_name(at->directory), 0) == 0;
}

static bool try_symlink(void) {
  return symlinkat("/", AT_FDCWD, new_name(at->other_directory)) == 0;
}

static bool try_mkdir(void) {
  return mkdirat(AT_FDCWD, new_name(at->other_directory), 0700) == 0;
}

static bool try_fifo(void) {
  return mknodat(AT_FDCWD, new_name(at->other_directory), S_IFIFO | 0600, 0) == 0;
}

static bool try_chmod(void) {
  return fchmodat(AT_FDCWD, at->other, 0640, 0) == 0;
}

static bool try_chown(void) {
  return fchownat(AT_FDCWD, at->other, getuid(), (gid_t)-1, 0) == 0;
}

static bool try_setxattr(void) {
  return setxattr(at->other, "user.rdpipe", "x", 1, 0) == 0;
}

static bool try_removexattr(void) {
  return removexattr(at->other, "user.rdpipe") == 0;
}

static bool try_times(void) {
  return utimensat(AT_FDCWD, at->other, NULL, 0) == 0;
}

CALL(try_truncate, SYS_truncate, at->other, 0)
CALL(try_chmod_2, CHMOD_2, AT_FDCWD, at->other, 0640, 0)
CALL(try_setxattrat, SET_ATTRIBUTE, AT_FDCWD, at->other, 0, "user.rdpipe", NULL, 0)
CALL(try_file_attributes, SET_FILE_ATTRIBUTES, AT_FDCWD, at->other, NULL, 0, 0)
CALL(try_fchmod, SYS_fchmod, -1, 0600)
CALL(try_fsetxattr, SYS_fsetxattr, -1, "user.rdpipe", "x", 1, 0)

// The needs of the programs

static bool try_read_own(void) {
  return open_for(at->file, O_RDONLY);
}

static bool try_write_own(void) {
  return open_for(at->file, O_WRONLY);
}

static bool try_create_own(void) {
  return open_for(new_name(at->directory), O_WRONLY | O_CREAT);
}

static bool try_remove_own(void) {
  return unlinkat(AT_FDCWD, at->file, 0) == 0;
}

static bool try_mkdir_own(void) {
  return mkdirat(AT_FDCWD, new_name(at->directory), 0700) == 0;
}

static bool try_chmod_own(void) {
  return fchmodat(AT_FDCWD, at->file, 0640, 0) == 0;
}

static bool try_null(void) {
  return open_for("/dev/null", O_WRONLY);
}

static bool try_itself(void) {
  return open_for("/proc/self/status", O_RDONLY);
}

static void *nothing(void *context) {
  return context;
}

static bool try_thread(void) {
  pthread_t thread;
  errno = pthread_create(&thread, NULL, nothing, NULL);
  return errno == 0 && pthread_join(thread, NULL) == 0;
}

// Outcomes: K: the process is killed. -: EPERM, n: ENOSYS, by the filter. f: EACCES, by Landlock; p: likewise, from its
// version 4; s: EPERM, from its version 6. y: the kernel does it, or fails for another reason. Where the kernel's
// Landlock is older, f, p and s are y.
// The columns are those of enum taken_over_role: rdsend, rdrecv (by hand to a pipe, to a file), rdsend, rdrecv (under
// the agent), rdforward (to a port, to a local socket), closed | rdtree: read, clean, unite, compare, write, served
// read, served write.
static const struct attempt {
  const char *name;
  bool (*make)(void); // on failure errno has the reason
  const char *outcomes;
} attempts[] = {
    {"execve", try_execve, "KKKKKKKK KKKKKKK"},
    {"execveat", try_execveat, "KKKKKKKK KKKKKKK"},
    {"ptrace", try_ptrace, "KKKKKKKK KKKKKKK"},
    {"process_vm_readv", try_read_memory, "KKKKKKKK KKKKKKK"},
    {"process_vm_writev", try_write_memory, "KKKKKKKK KKKKKKK"},
    {"pidfd_getfd", try_pidfd_getfd, "KKKKKKKK KKKKKKK"},
    {"bpf", try_bpf, "KKKKKKKK KKKKKKK"},
    {"perf_event_open", try_perf, "KKKKKKKK KKKKKKK"},
    {"userfaultfd", try_userfaultfd, "KKKKKKKK KKKKKKK"},
    {"keyctl", try_keyctl, "KKKKKKKK KKKKKKK"},
    {"add_key", try_add_key, "KKKKKKKK KKKKKKK"},
    {"request_key", try_request_key, "KKKKKKKK KKKKKKK"},
    {"init_module", try_module, "KKKKKKKK KKKKKKK"},
    {"mount", try_mount, "KKKKKKKK KKKKKKK"},
    {"umount", try_umount, "KKKKKKKK KKKKKKK"},
    {"open_tree", try_open_tree, "KKKKKKKK KKKKKKK"},
    {"unshare", try_unshare, "KKKKKKKK KKKKKKK"},
    {"setns", try_setns, "KKKKKKKK KKKKKKK"},
    {"chroot", try_chroot, "KKKKKKKK KKKKKKK"},
    {"open_by_handle_at", try_file_handle, "KKKKKKKK KKKKKKK"},
    {"fork", try_fork, "-------- -------"},
    {"clone3", try_clone3, "nnnnnnnn nnnnnnn"},
    {"io_uring_setup", try_io_uring, "nnnnnnnn nnnnnnn"},
    {"fanotify_init", try_fanotify, "nnnnnnnn nnnnnnn"},
    {"setuid", try_setuid, "nnnnnnnn nnnnnnn"},
    {"capset", try_capset, "nnnnnnnn nnnnnnn"},
    {"personality", try_personality, "nnnnnnnn nnnnnnn"},
    {"memory to write and run", try_run_written, "-------- -------"},
    {"/proc of another process", try_proc, "ffffffff fffyyff"},
    {"PR_SET_DUMPABLE", try_dumpable, "-------- -------"},
    {"setrlimit", try_limit, "-------- -------"},
    {"TIOCSTI", try_typing, "-------- -------"},
    {"SIGKILL to a stranger", try_kill, "----y--- -------"},
    {"SIGTERM to a stranger", try_term, "-------- -------"},
    {"SIGKILL to everybody", try_kill_all, "-------- -------"},
    {"tgkill of a stranger", try_kill_thread, "-------- -------"},
    {"pidfd_send_signal to a stranger", try_kill_by_pidfd, "-------- -------"},
    {"rt_sigqueueinfo to a stranger", try_queue_signal, "nnnnnnnn nnnnnnn"},
    {"F_SETOWN", try_own, "-------- -------"},
    {"F_SETOWN_EX", try_own_ex, "-------- -------"},
    {"F_SETSIG", try_set_signal, "-------- -------"},
    {"FIOSETOWN", try_own_by_ioctl, "-------- -------"},
    {"a local socket", try_local, "---yy-y- nnnnnnn"},
    {"an abstract socket", try_abstract, "---ss-s- nnnnnnn"},
    {"a packet socket", try_packet, "-------- nnnnnnn"},
    {"a raw socket", try_raw, "-------- nnnnnnn"},
    {"the audit socket", try_audit, "-------- nnnnnnn"},
    {"AF_ALG", try_crypto, "-------- nnnnnnn"},
    {"AF_VSOCK", try_machine, "-------- nnnnnnn"},
    {"an MPTCP socket", try_multipath, "-------- nnnnnnn"},
    {"a UDP socket", try_datagram, "yyyyyyyy nnnnnnn"},
    {"to connect to its port", try_connect, "yppyyypp nnnnnnn"},
    {"to connect to another port", try_other_port, "pppyyppp nnnnnnn"},
    {"to bind its port", try_bind, "pyyyyppp nnnnnnn"},
    {"to bind another port", try_bind_other, "pppyyppp nnnnnnn"},
    {"sendto with MSG_FASTOPEN", try_fast_open, "-------- nnnnnnn"},
    {"sendmsg with MSG_FASTOPEN", try_fast_message, "-------- nnnnnnn"},
    {"to read a file elsewhere", try_read, "ffffffff fffyyff"},
    {"to list a directory elsewhere", try_list, "ffffffff fffyyff"},
    {"to read /etc/passwd", try_read_users, "ffffffff yyyyyyy"},
    {"to write a file elsewhere", try_write, "ffffffff ffffyff"},
    {"to create a file elsewhere", try_create, "ffffffff ffffyff"},
    {"to remove a file elsewhere", try_remove, "nnfnfnfn ffffyff"},
    {"to move a file elsewhere", try_move_out, "nnfnfnnn nnnnynf"},
    {"to link a file from elsewhere", try_link, "nnfnfnnn nnnnynf"},
    {"symlinkat elsewhere", try_symlink, "nnnnnnnn nnnnynf"},
    {"mkdirat elsewhere", try_mkdir, "nnnnnnnn nnnnynf"},
    {"mknodat elsewhere", try_fifo, "nnnnnnnn nnnnynf"},
    {"truncate elsewhere", try_truncate, "nnnnnnnn nnnnnnn"},
    {"chmod elsewhere", try_chmod, "nnnnnnnn nnnnyny"},
    {"chown elsewhere", try_chown, "nnnnnnnn nnnnyny"},
    {"setxattr elsewhere", try_setxattr, "nnnnnnnn nnnnyny"},
    {"removexattr elsewhere", try_removexattr, "nnnnnnnn nnnnyny"},
    {"utimensat elsewhere", try_times, "nnnnnnnn nnnnyny"},
    {"fchmodat2", try_chmod_2, "nnnnnnnn nnnnnnn"},
    {"setxattrat", try_setxattrat, "nnnnnnnn nnnnnnn"},
    {"file_setattr", try_file_attributes, "nnnnnnnn nnnnnnn"},
    {"fchmod of an open file", try_fchmod, "nnynynnn nnnnyny"},
    {"fsetxattr of an open file", try_fsetxattr, "nnynynnn nnnnyny"},
    {"to read its file", try_read_own, "ffyfyfff yyfyyyy"},
    {"to write its file", try_write_own, "ffyfyfff ffffyfy"},
    {"to create a file", try_create_own, "ffyfyfff ffffyfy"},
    {"to remove a file", try_remove_own, "nnynynyn fyffyfy"},
    {"to create a directory", try_mkdir_own, "nnnnnnnn nnnnyny"},
    {"to change a mode", try_chmod_own, "nnnnnnnn nnnnyny"},
    {"to write /dev/null", try_null, "yyyyyyyy yyyyyyy"},
    {"to read /proc/self", try_itself, "yyyyyyyy yyyyyyy"},
    {"a thread", try_thread, "yyyyyyyy yyyyyyy"},
};

static void make_places(void);
static void restore_places(void);
static void remove_places(void);
static bool has_filters(void);
static char outcome_of(const struct attempt *attempt, const struct taken_over_program *program);
static char expected_of(const struct attempt *attempt, enum taken_over_role role, long landlock);

int taken_over_suite(const char *suite, const struct taken_over_program *programs, size_t count, int argc) {
  if (!RD_SANDBOX_IS_POSSIBLE || !has_filters()) {
    CHECK(count > 0);
    printf("%s: no system call filter in this build, or on this kernel\n", suite);
    return test_end(suite);
  }
  long landlock = syscall(LANDLOCK_CREATE, NULL, 0, 1);
  if (landlock < 6)
    printf("%s: this kernel's Landlock has version %ld (0: none)\n", suite, landlock < 0 ? 0 : landlock);
  make_places();
  for (size_t i = 0; i < count * (sizeof attempts / sizeof *attempts); i++) {
    const struct attempt *attempt = &attempts[i % (sizeof attempts / sizeof *attempts)];
    const struct taken_over_program *program = &programs[i / (sizeof attempts / sizeof *attempts)];
    char expected = expected_of(attempt, program->role, landlock), outcome = outcome_of(attempt, program);
    bool is_right = CHECK(outcome == expected);
    if (!is_right || argc > 1) printf("%s: %s: %c, expected %c\n", program->name, attempt->name, outcome, expected);
    restore_places();
  }
  remove_places();
  return test_end(suite);
}

static int listen_on(const struct sockaddr *address, socklen_t bytes) {
  int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(fd >= 0 && bind(fd, address, bytes) == 0 && listen(fd, 4096) == 0);
  return fd;
}

static uint16_t listen_on_port(int *fd) {
  struct sockaddr_in address = here(0);
  socklen_t bytes = sizeof address;
  *fd = listen_on((struct sockaddr *)&address, bytes);
  REQUIRE(getsockname(*fd, (struct sockaddr *)&address, &bytes) == 0);
  return ntohs(address.sin_port);
}

static void make_places(void) {
  struct taken_over_places *places = &taken_over_places;
  const char *temporary = getenv("TMPDIR");
  if (temporary == NULL || strlen(temporary) > 30) temporary = "/tmp";
  snprintf(places->directory, sizeof places->directory, "%.30s/taken_over.XXXXXX", temporary);
  memcpy(places->other_directory, places->directory, sizeof places->directory);
  REQUIRE(mkdtemp(places->directory) != NULL && mkdtemp(places->other_directory) != NULL);
  // Temporary files are allowed, and these directories are where they would be.
  setenv("TMPDIR", "/nowhere", 1);
  snprintf(places->file, sizeof places->file, "%.63s/file", places->directory);
  snprintf(places->other, sizeof places->other, "%.63s/other", places->other_directory);
  snprintf(places->socket, sizeof places->socket, "%.63s/socket", places->directory);
  places->port = listen_on_port(&listeners[0]);
  places->other_port = listen_on_port(&listeners[1]);
  memcpy(local.sun_path, places->socket, sizeof places->socket);
  local_listener = listen_on((struct sockaddr *)&local, sizeof local);
  memcpy(abstract.sun_path + 1, places->socket, sizeof places->socket);
  abstract_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(places->socket));
  abstract_listener = listen_on((struct sockaddr *)&abstract, abstract_bytes);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  stranger = fork();
  if (stranger == 0)
    for (;;) pause();
  REQUIRE(stranger > 0);
  restore_places();
}

// An attempt that works may have moved, created or removed a file.
static void restore_places(void) {
  const char *const directories[] = {at->directory, at->other_directory};
  for (size_t i = 0; i < 2; i++)
    if (unlink(new_name(directories[i])) < 0) rmdir(new_name(directories[i]));
  REQUIRE(open_for(at->file, O_WRONLY | O_CREAT) && open_for(at->other, O_WRONLY | O_CREAT));
}

static void remove_places(void) {
  kill(stranger, SIGKILL);
  waitpid(stranger, NULL, 0);
  unlink(at->file);
  unlink(at->other);
  unlink(at->socket);
  CHECK(rmdir(at->directory) == 0 && rmdir(at->other_directory) == 0);
}

static bool has_filters(void) {
  pid_t pid = fork();
  if (pid == 0) _exit(rd_syscall_filter_install(&(struct rd_syscall_profile){.group = 0}) ? 0 : 1);
  int status;
  REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
  return status == 0;
}

// Makes the attempt in a process of its own.
static char outcome_of(const struct attempt *attempt, const struct taken_over_program *program) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    program->confine();
    errno = 0;
    _exit(attempt->make() ? 0 : errno);
  }
  int status;
  REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
  if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGSYS ? 'K' : '?';
  switch (WEXITSTATUS(status)) {
  case EPERM:
    return '-';
  case ENOSYS:
    return 'n';
  case EACCES:
  case EXDEV: // Landlock's version 1 for a move between directories
    return 'f';
  default:
    return 'y';
  }
}

static char expected_of(const struct attempt *attempt, enum taken_over_role role, long landlock) {
  char expected = attempt->outcomes[role < ROLE_TREE_READ ? role : role + 1]; // there is a space between them
  if (expected == 'f') return landlock >= 1 ? 'f' : 'y';
  if (expected == 'p') return landlock >= 4 ? 'f' : 'y';
  if (expected == 's') return landlock >= 6 ? '-' : 'y';
  return expected;
}
