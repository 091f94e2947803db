// SPDX-License-Identifier: Apache-2.0
// Tests of the sandbox.
// Each attempt is made by a process of its own that entered the sandbox as rdsend or rdrecv does. The attempt works,
// fails with a reason, or ends the process.
#include "sandbox/sandbox.h"

#include "base/cleanup.h"
#include "sandbox/syscall_filter.h"
#include "sink/sink.h"
#include "test.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define KILLED (-SIGSYS)
#define WORKS 0

static char sink_directory[] = "/tmp/sandbox_test.XXXXXX", other_directory[] = "/tmp/sandbox_test.XXXXXX";
static char sink_path[64], other_path[64], neighbour[64];
static struct rd_sink *sink;
static pid_t child; // of the suite, in its own process group
static struct rd_error error;
static const uint16_t dialed = 1;
static const struct rd_landlock_ports ports = {.connect = &dialed, .connect_count = 1};

struct attempt {
  const char *name;
  bool (*make)(void); // on failure errno has the reason
  int outcome;        // WORKS, an errno, KILLED
};

static bool start_program(void) {
  char *words[] = {"/bin/true", NULL};
  return execv(words[0], words) == 0;
}

static bool trace(void) {
  return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static bool read_memory_of_parent(void) {
  char byte;
  struct iovec here = {&byte, 1}, there = {&byte, 1};
  return process_vm_readv(getppid(), &here, 1, &there, 1, 0) == 1;
}

static bool load_bpf(void) {
  return syscall(SYS_bpf, 0, NULL, 0) >= 0;
}

static bool use_keys(void) {
  return syscall(SYS_keyctl, 0, -3, 0) >= 0;
}

static bool mount_something(void) {
  return mount("none", other_directory, "tmpfs", 0, NULL) == 0;
}

static bool leave_namespace(void) {
  return syscall(SYS_unshare, 0) == 0;
}

static bool make_process(void) {
  pid_t pid = fork();
  if (pid == 0) _exit(0);
  return pid > 0;
}

static bool socket_of(int family, int type, int protocol) {
  RD_AUTO_CLOSE int fd = socket(family, type | SOCK_CLOEXEC, protocol);
  return fd >= 0;
}

static bool packet_socket(void) {
  return socket_of(AF_PACKET, SOCK_DGRAM, 0);
}

static bool raw_socket(void) {
  return socket_of(AF_INET6, SOCK_RAW, IPPROTO_TCP);
}

static bool audit_socket(void) {
  return socket_of(AF_NETLINK, SOCK_RAW, 9);
}

static bool ring_of_calls(void) {
  char parameters[256] = {0};
  return syscall(SYS_io_uring_setup, 1, parameters) >= 0;
}

static bool write_and_run(void) {
  return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static bool become_dumpable(void) {
  return prctl(PR_SET_DUMPABLE, 1) == 0;
}

static bool raise_limit(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_CORE, &limit) == 0 && setrlimit(RLIMIT_CORE, &limit) == 0;
}

static bool type_at_terminal(void) {
  return ioctl(STDIN_FILENO, TIOCSTI, "x") == 0;
}

static bool signal_parent(void) {
  return kill(getppid(), 0) == 0;
}

static bool signal_everybody(void) {
  return kill(-1, SIGKILL) == 0;
}

static bool signal_child(void) {
  return kill(-child, SIGCONT) == 0;
}

static bool kill_child(void) {
  return kill(-child, SIGKILL) == 0;
}

static bool make_directory(void) {
  return mkdirat(AT_FDCWD, neighbour, 0700) == 0;
}

static bool open_for(const char *path, int flags) {
  RD_AUTO_CLOSE int fd = open(path, flags | O_CLOEXEC, 0600);
  return fd >= 0;
}

static bool write_elsewhere(void) {
  return open_for(other_path, O_WRONLY);
}

static bool read_elsewhere(void) {
  return open_for(other_path, O_RDONLY);
}

static bool read_passwords(void) {
  return open_for("/etc/passwd", O_RDONLY);
}

static bool make_elsewhere(void) {
  char path[sizeof other_directory + 8];
  snprintf(path, sizeof path, "%s/new", other_directory);
  return open_for(path, O_WRONLY | O_CREAT);
}

static bool remove_elsewhere(void) {
  return unlink(other_path) == 0;
}

static bool move_elsewhere(void) {
  return rename(neighbour, other_path) == 0;
}

static bool write_neighbour(void) {
  return open_for(neighbour, O_WRONLY | O_CREAT) && unlink(neighbour) == 0;
}

static bool write_null(void) {
  return open_for("/dev/null", O_WRONLY);
}

static bool commit_sink(void) {
  atomic_bool stop = false;
  return rd_sink_write(sink, (const unsigned char *)"bytes", 5, &stop, &error) && rd_sink_commit(sink, &error) &&
         access(sink_path, F_OK) == 0;
}

static void *nothing(void *context) {
  return context;
}

static bool start_thread(void) {
  pthread_t thread;
  errno = pthread_create(&thread, NULL, nothing, NULL);
  return errno == 0 && pthread_kill(thread, 0) == 0 && pthread_join(thread, NULL) == 0;
}

// Reads the files that contain host names, and asks the kernel for its addresses.
static bool find_name(void) {
  struct addrinfo *all = NULL;
  if (getaddrinfo("localhost", "9", NULL, &all) != 0) return false;
  freeaddrinfo(all);
  return true;
}

static bool talk(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  RD_AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  socklen_t bytes = sizeof address;
  return bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 1) == 0 &&
         getsockname(fd, (struct sockaddr *)&address, &bytes) == 0 && socket_of(AF_INET6, SOCK_DGRAM, 0) &&
         socket_of(AF_NETLINK, SOCK_RAW, 0);
}

static bool make_link(void) {
  return symlinkat("x", AT_FDCWD, neighbour) == 0 && unlink(neighbour) == 0;
}

static bool make_and_remove_directory(void) {
  return make_directory() && unlinkat(AT_FDCWD, neighbour, AT_REMOVEDIR) == 0;
}

static bool change_mode(void) {
  return chmod(other_path, 0640) == 0;
}

static bool change_times(void) {
  return utimensat(AT_FDCWD, other_path, NULL, 0) == 0;
}

static bool own_descriptor(void) {
  return fcntl(STDERR_FILENO, F_SETOWN, getppid()) == 0;
}

static bool multipath_socket(void) {
  return socket_of(AF_INET, SOCK_STREAM, 262);
}

static bool connect_to(uint16_t port) {
  struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  RD_AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
}

// Nothing listens on these ports: ECONNREFUSED shows that the connection was tried.
static bool connect_to_its_port(void) {
  return connect_to(ports.connect[0]);
}

static bool connect_to_other_port(void) {
  return connect_to((uint16_t)(ports.connect[0] + 1));
}

static bool connect_by_sending(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(2), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  RD_AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&address, sizeof address) == 1;
}

static bool bind_port(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  RD_AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
}

static bool local_socket(void) {
  return socket_of(AF_UNIX, SOCK_STREAM, 0);
}

static bool list_directory(void) {
  return open_for(sink_directory, O_RDONLY | O_DIRECTORY);
}

struct end {
  const char *file;      // of a sink; NULL: it is a descriptor
  const char *directory; // of a program of a copy, which only reads it
  bool kills, tree, dials;
};

static void enter_tree(const struct end *end) {
  RD_AUTO_CLOSE int fd = end->directory == NULL ? -1 : open(end->directory, O_PATH | O_CLOEXEC);
  // temporary files are allowed, and the other files of this test are in the same directory
  setenv("TMPDIR", "/nowhere", 1);
  if (end->directory != NULL) rd_landlock_restrict_trees(&fd, 1, RD_LANDLOCK_READ);
  rd_syscall_filter_install(
      &(struct rd_syscall_profile){.files = end->directory != NULL ? RD_FILES_REMOVE : RD_FILES_TREE, .tree = true});
}

// Makes the attempt in a child process, which enters the sandbox of a receiver with `sink`, or of another end without
// files.
static int outcome_of(const struct attempt *attempt, const struct end *end, pid_t command) {
  pid_t pid = fork();
  if (pid == 0) {
    if (end->file != NULL && (sink = rd_sink_open(end->file, false, &error)) == NULL) _exit(255);
    if (end->tree)
      enter_tree(end);
    else
      rd_sandbox_enter(
          &(struct rd_syscall_profile){
              .rdma = true, .kills = end->kills, .files = RD_FILES_WRITE, .local = end->kills, .group = command},
          end->dials ? &ports : NULL);
    rd_sandbox_close(end->file, sink != NULL ? rd_sink_directory_fd(sink) : -1);
    errno = 0;
    _exit(attempt->make() ? WORKS : errno != 0 ? errno : 255);
  }
  int status;
  REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void check_all(const struct attempt *attempts, size_t count, const struct end *end, pid_t command) {
  for (size_t i = 0; i < count; i++) {
    int outcome = outcome_of(&attempts[i], end, command);
    if (!CHECK(outcome == attempts[i].outcome))
      fprintf(stderr, "%s: %d, not %d\n", attempts[i].name, outcome, attempts[i].outcome);
  }
}

#define CHECK_ALL(attempts, end, command) check_all(attempts, sizeof attempts / sizeof *attempts, end, command)

static const struct end standalone = {.file = sink_path};
static const struct end commanding = {.file = NULL};
static const struct end agents_receiver = {.kills = true};
static const struct end agents_sender = {.kills = false};
static const struct end dialer = {.dials = true};
static const struct end tree = {.tree = true};
static const struct end tree_reader = {.tree = true, .directory = sink_directory};

static void check_calls(void) {
  static const struct attempt attempts[] = {
      {"execve", start_program, KILLED},
      {"ptrace", trace, KILLED},
      {"process_vm_readv", read_memory_of_parent, KILLED},
      {"bpf", load_bpf, KILLED},
      {"keyctl", use_keys, KILLED},
      {"mount", mount_something, KILLED},
      {"unshare", leave_namespace, KILLED},
      {"fork", make_process, EPERM},
      {"a packet socket", packet_socket, EPERM},
      {"a raw socket", raw_socket, EPERM},
      {"the audit socket", audit_socket, EPERM},
      {"memory that is written and run", write_and_run, EPERM},
      {"PR_SET_DUMPABLE", become_dumpable, EPERM},
      {"setrlimit", raise_limit, EPERM},
      {"TIOCSTI", type_at_terminal, EPERM},
      {"a signal to the parent", signal_parent, EPERM},
      {"a signal to everybody", signal_everybody, EPERM},
      {"io_uring", ring_of_calls, ENOSYS},
      {"mkdir", make_directory, ENOSYS},
      {"chmod", change_mode, ENOSYS},
      {"utimensat", change_times, ENOSYS},
      {"F_SETOWN", own_descriptor, EPERM},
      {"a local socket", local_socket, EPERM},
      {"an MPTCP socket", multipath_socket, EPERM},
      {"MSG_FASTOPEN", connect_by_sending, EPERM},
      {"a thread", start_thread, WORKS},
      {"sockets", talk, WORKS},
      {"a file", commit_sink, WORKS},
      {"another file beside it", write_neighbour, WORKS},
      {"/dev/null", write_null, WORKS},
#ifndef RD_STATIC
      {"a name", find_name, WORKS},
#endif
  };
  CHECK_ALL(attempts, &standalone, 0);
}

static void check_tree(void) {
  static const struct attempt attempts[] = {
      {"execve", start_program, KILLED},     {"ptrace", trace, KILLED},
      {"fork", make_process, EPERM},         {"a socket", local_socket, ENOSYS},
      {"setrlimit", raise_limit, EPERM},     {"a directory", make_and_remove_directory, WORKS},
      {"a symbolic link", make_link, WORKS}, {"a thread", start_thread, WORKS},
  };
  CHECK_ALL(attempts, &tree, 0);
}

static void check_signals(void) {
  static const struct attempt commands[] = {{"a signal to the command", signal_child, WORKS},
                                            {"a signal to the parent", signal_parent, EPERM}};
  static const struct attempt receivers[] = {{"SIGCONT to a consumer", signal_child, EPERM},
                                             {"SIGKILL to everybody", signal_everybody, EPERM}};
  static const struct attempt senders[] = {{"SIGKILL", kill_child, EPERM}};
  static const struct attempt killers[] = {{"SIGKILL to a consumer", kill_child, WORKS}};
  CHECK_ALL(commands, &commanding, child);
  CHECK_ALL(receivers, &agents_receiver, 0);
  CHECK_ALL(senders, &agents_sender, 0);
  CHECK_ALL(killers, &agents_receiver, 0); // the last attempt: the child is gone
}

// If the kernel supports Landlock.
static void check_files(long version) {
  static const struct attempt attempts[] = {
      {"to write elsewhere", write_elsewhere, EACCES},   {"to read elsewhere", read_elsewhere, EACCES},
      {"to read /etc/passwd", read_passwords, EACCES},   {"to make a file elsewhere", make_elsewhere, EACCES},
      {"to remove elsewhere", remove_elsewhere, EACCES},
  };
  static const struct attempt readers[] = {{"to write a file", write_neighbour, EACCES}};
  CHECK_ALL(attempts, &standalone, 0);
  CHECK_ALL(attempts, &commanding, child);
  CHECK_ALL(readers, &agents_sender, 0);
  static const struct attempt trees[] = {
      {"to write elsewhere", write_elsewhere, EACCES},      {"to read elsewhere", read_elsewhere, EACCES},
      {"to write where it reads", write_neighbour, EACCES}, {"to list a directory", list_directory, WORKS},
      {"the names of users", read_passwords, WORKS},
  };
  CHECK_ALL(trees, &tree_reader, 0);
  static const struct attempt dialers[] = {{"its port", connect_to_its_port, ECONNREFUSED},
                                           {"another port", connect_to_other_port, EACCES},
                                           {"to bind a port", bind_port, EACCES}};
  if (version >= 4) CHECK_ALL(dialers, &dialer, 0);
  const struct attempt movers[] = {{"to move a file out", move_elsewhere, version > 1 ? EACCES : EXDEV}};
  REQUIRE(open_for(neighbour, O_WRONLY | O_CREAT));
  CHECK_ALL(movers, &standalone, 0);
  REQUIRE(unlink(neighbour) == 0);
}

static bool has_filters(void) {
  pid_t pid = fork();
  if (pid == 0) _exit(rd_syscall_filter_install(&(struct rd_syscall_profile){.group = 0}) ? 0 : 1);
  int status;
  REQUIRE(pid > 0 && waitpid(pid, &status, 0) == pid);
  return status == 0;
}

static pid_t start_child(void) {
  pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    for (;;) pause();
  }
  setpgid(pid, pid);
  return pid;
}

int main(void) {
  if (!RD_SANDBOX_IS_POSSIBLE) {
    static const struct attempt sanitizers[] = {{"fork", make_process, WORKS}, {"TRACEME", trace, WORKS}};
    CHECK_ALL(sanitizers, &commanding, 0);
    return test_end("sandbox (off with sanitizers)");
  }
  REQUIRE(mkdtemp(sink_directory) != NULL && mkdtemp(other_directory) != NULL);
  snprintf(sink_path, sizeof sink_path, "%s/sink", sink_directory);
  snprintf(neighbour, sizeof neighbour, "%s/neighbour", sink_directory);
  snprintf(other_path, sizeof other_path, "%s/other", other_directory);
  REQUIRE(open_for(other_path, O_WRONLY | O_CREAT));
  child = start_child();
  bool filters = has_filters();
  long fences = syscall(444, NULL, 0, 1); // version of Landlock
  if (fences > 0) check_files(fences);
  if (filters) check_calls();
  if (filters) check_tree();
  if (filters) check_signals();
  CHECK(filters || fences > 0 || kill(child, SIGKILL) == 0);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  CHECK(unlink(other_path) == 0 && rmdir(other_directory) == 0);
  unlink(sink_path);
  CHECK(rmdir(sink_directory) == 0);
  if (!filters) fprintf(stderr, "sandbox: this kernel takes no filter\n");
  if (fences < 1) fprintf(stderr, "sandbox: this kernel has no Landlock\n");
  return test_end("sandbox");
}
