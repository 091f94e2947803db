// SPDX-License-Identifier: Apache-2.0
// Fuzzes the complete supervisor, from its hello to `ended`, in one thread and without processes.
// A line of the input is a request of the controller, a message or the exit of a child, or a period of time. This file
// replaces spawn.c, process_list.c, hello.c, fork(), kill() and wait4(). For any input the supervisor signals only
// children that were not reaped, shows no consumer an end of file after a failure, and emits `ended` in time.
#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "base/spawn.h"
#include "fake_clock.h"
#include "fuzz.h"
#include "process/process_list.h"
#include "protocol/hello.h"
#include "run/guardian_messages.h"
#include "run/held_write_ends.h"
#include "run/supervisor.h"
#include "runtime/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define CHILDREN_MAX 16u
#define FIRST_PID 0x70000000 // above every real pid
#define LINES_MAX 300u
#define TURNS_MAX 25000u // a lease of a millisecond is renewed every millisecond, and the end takes up to 8 s
#define LINE_MAX_BYTES (4u << 20)
#define NOT_ENDED (-1)

struct child {
  int fds[RD_SPAWN_MAX_FDS];
  size_t fd_count;
  bool reads_pipe;  // its standard input is a pipe
  bool is_stubborn; // no signal kills it
  int status;       // as from wait4(); or NOT_ENDED
  bool is_reaped;
};

static struct scene {
  struct fuzz_input input;
  unsigned lines;
  struct child children[CHILDREN_MAX];
  size_t child_count;
  int controller_fd, guardian_fd, signal_fd; // the other ends of the supervisor's descriptors; -1: closed
  struct rd_line_reader *events;
  struct rd_held_write_ends held;
  bool spawn_fails, has_gone, is_done; // has_gone: the controller has gone
  bool may_end;                        // a consumer may see an end of file
  bool greeted;
  unsigned ended; // number of `ended` events
} scene;

static void open_scene(struct rd_agent_options *options, int *guard_fd, struct fuzz_input *input);
static void close_scene(void);
static void give_standard_descriptors(int fd);
static bool turn(void *context);
static void receive(void);
static bool check_line(void *context, const char *line, size_t bytes);
static void guard(void);
static void check_consumers(void);
static void act(const char *line, size_t bytes);
static void act_child(const char *line, size_t bytes);
static void request(const char *line, size_t bytes);
static void send_line(int fd, const char *text, size_t bytes, char end);
static int number_in(const char *digits, size_t count);
static void end_child(struct child *child, int status);
static void emit_signal(unsigned number);
static struct child *child_of(pid_t pid);
static pid_t pid_of(const struct child *child);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = {data, size};
  const struct fake_world world = {.turn = turn, .turns_most = TURNS_MAX};
  struct rd_agent_options options;
  int guard_fd;
  open_scene(&options, &guard_fd, &input);
  fake_clock_start(&world);
  int status = rd_supervisor_run(&options, 1, guard_fd);
  fake_clock_stop();
  receive();
  FUZZ_REQUIRE(scene.ended == 1 || scene.has_gone);
  FUZZ_REQUIRE(status == EXIT_SUCCESS || status == EXIT_FAILURE);
  close_scene();
  rd_cleanup_fd(&options.user_stdin);
  rd_cleanup_fd(&options.user_stdout);
  return 0;
}

static void open_scene(struct rd_agent_options *options, int *guard_fd, struct fuzz_input *input) {
  int control[2], guardian[2];
  bool is_users = input->left > 0 && input->bytes[0] == 'u';
  signal(SIGPIPE, SIG_IGN); // as main() of the agent does
  FUZZ_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, control) == 0);
  FUZZ_REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, guardian) == 0);
  *options = (struct rd_agent_options){.nonce = "nonce", .user_stdin = -1, .user_stdout = -1};
  if (is_users) options->user_stdin = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (is_users) options->user_stdout = open("/dev/null", O_WRONLY | O_CLOEXEC);
  scene = (struct scene){.input = *input, .controller_fd = control[1], .guardian_fd = guardian[1], .signal_fd = -1};
  scene.events = rd_line_reader_create(control[1], LINE_MAX_BYTES);
  *guard_fd = guardian[0];
  give_standard_descriptors(control[0]);
  close(control[0]);
}

static void close_scene(void) {
  give_standard_descriptors(-1);
  for (size_t i = 0; i < scene.child_count; i++) end_child(&scene.children[i], 0);
  rd_cleanup_fd(&scene.controller_fd);
  rd_cleanup_fd(&scene.guardian_fd);
  rd_cleanup_fd(&scene.signal_fd);
  rd_line_reader_destroy(scene.events);
  rd_held_write_ends_clear(&scene.held);
}

// Replaces descriptors 0 and 1 for the supervisor; -1: restores them.
static void give_standard_descriptors(int fd) {
  static int before[2] = {-1, -1};
  for (int i = 0; i < 2; i++) {
    if (before[i] < 0) before[i] = fcntl(i, F_DUPFD_CLOEXEC, 10);
    FUZZ_REQUIRE(before[i] < 0 || dup2(fd >= 0 ? fd : before[i], i) == i);
  }
}

static bool turn(void *context) {
  (void)context;
  receive();
  guard();
  check_consumers();
  if (scene.input.left == 0 || scene.lines == LINES_MAX) {
    static const char last[] = "\n{\"op\":\"abort\",\"reason\":\"over\"}";
    if (!scene.is_done) request(last, sizeof last - 1);
    scene.is_done = true;
    return false;
  }
  const uint8_t *line = scene.input.bytes;
  const uint8_t *newline = memchr(line, '\n', scene.input.left);
  size_t bytes = newline != NULL ? (size_t)(newline - line) : scene.input.left;
  scene.input.left -= newline != NULL ? bytes + 1 : bytes;
  scene.input.bytes += newline != NULL ? bytes + 1 : bytes;
  scene.lines++;
  act((const char *)line, bytes);
  return true;
}

static void receive(void) {
  struct rd_error error;
  if (scene.controller_fd >= 0) (void)rd_line_reader_take(scene.events, check_line, NULL, &error);
}

// Every line after the hello is an event, and `ended` is the last event.
static bool check_line(void *context, const char *line, size_t bytes) {
  (void)context;
  FUZZ_REQUIRE(scene.ended == 0);
  if (!scene.greeted) {
    scene.greeted = strcmp(line, "hello") == 0;
    FUZZ_REQUIRE(scene.greeted);
    return true;
  }
  json_t *event = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, NULL);
  const char *name = json_string_value(json_object_get(event, "event"));
  FUZZ_REQUIRE(name != NULL);
  if (strcmp(name, "ended") == 0) scene.ended++;
  json_decref(event);
  return true;
}

static void guard(void) {
  struct rd_guardian_message message;
  int fd;
  while (scene.guardian_fd >= 0 && rd_guardian_receive(scene.guardian_fd, &message, &fd)) {
    FUZZ_REQUIRE((message.type == RD_GUARDIAN_HOLD) == (fd >= 0));
    if (message.type == RD_GUARDIAN_HOLD) rd_held_write_ends_add(&scene.held, message.number, fd);
    if (message.type == RD_GUARDIAN_RELEASE) rd_held_write_ends_drop(&scene.held, message.number);
  }
}

// As long as no stage or link can have ended well, no consumer may see an end of file.
static void check_consumers(void) {
  for (size_t i = 0; i < scene.child_count && !scene.may_end; i++) {
    struct pollfd input = {.fd = scene.children[i].fds[0]};
    if (scene.children[i].status != NOT_ENDED || !scene.children[i].reads_pipe) continue;
    FUZZ_REQUIRE(poll(&input, 1, 0) == 0);
  }
}

static void act(const char *line, size_t bytes) {
  char kind = bytes > 0 ? line[0] : '\0';
  if (kind >= '0' && kind <= '9')
    act_child(line, bytes);
  else if (kind == '+')
    fake_clock_pass(number_in(line + 1, bytes - 1));
  else if (kind == '!')
    rd_cleanup_fd(&scene.guardian_fd), scene.may_end = true;
  else if (kind == 'q')
    rd_cleanup_fd(&scene.controller_fd), scene.has_gone = true;
  else if (kind == '~')
    emit_signal(SIGTERM);
  else if (kind == 'f')
    scene.spawn_fails = !scene.spawn_fails;
  else if (kind != 'u')
    request(line, bytes);
}

// The line has a child's number, a letter, and an argument.
static void act_child(const char *line, size_t bytes) {
  size_t number = (size_t)(line[0] - '0');
  if (bytes < 2 || number >= scene.child_count || scene.children[number].status != NOT_ENDED) return;
  struct child *child = &scene.children[number];
  int value = number_in(line + 2, bytes - 2) & 0x7f;
  size_t out = line[1] == 's' ? 3 : line[1] == 'e' ? 2 : 1;
  switch (line[1]) {
  case 'x':
    scene.may_end = true;
    end_child(child, W_EXITCODE(value, 0));
    break;
  case 'k':
    end_child(child, W_EXITCODE(0, value > 0 && value < 65 ? value : SIGKILL));
    break;
  case 'b':
    child->is_stubborn = true;
    break;
  case 'c':
    if ((size_t)value < child->fd_count) rd_cleanup_fd(&child->fds[value]);
    break;
  case 's':
    scene.may_end = true; // the message may be `end`
    /* fall through */
  case 'e':
  case 'o':
    if (out >= child->fd_count || child->fds[out] < 0) break;
    // A path ends in a NUL, everything else in a newline.
    send_line(child->fds[out], line + 2, bytes - 2, line[1] == 'o' ? '\0' : '\n');
    break;
  default:
    break;
  }
}

static void request(const char *line, size_t bytes) {
  if (memmem(line, bytes, "lenient\":true", 13) != NULL) scene.may_end = true;
  if (scene.controller_fd >= 0) send_line(scene.controller_fd, line, bytes, '\n');
}

// Writes as much of the line as the descriptor accepts.
static void send_line(int fd, const char *text, size_t bytes, char end) {
  (void)rd_set_nonblocking(fd);
  if (bytes > 0 && rd_write_some(fd, text, bytes) != (ssize_t)bytes) return;
  (void)rd_write_some(fd, &end, 1);
}

static int number_in(const char *digits, size_t count) {
  int number = 0;
  for (size_t i = 0; i < count && i < 6 && digits[i] >= '0' && digits[i] <= '9'; i++)
    number = number * 10 + (digits[i] - '0');
  return number;
}

static void end_child(struct child *child, int status) {
  if (child->status == NOT_ENDED) {
    child->status = status;
    emit_signal(SIGCHLD);
  }
  for (size_t i = 0; i < child->fd_count; i++) rd_cleanup_fd(&child->fds[i]);
}

static void emit_signal(unsigned number) {
  const struct signalfd_siginfo info = {.ssi_signo = number};
  if (scene.signal_fd >= 0) (void)rd_write_some(scene.signal_fd, &info, sizeof info);
}

static struct child *child_of(pid_t pid) {
  size_t index = (size_t)(pid - FIRST_PID);
  return pid >= FIRST_PID && index < scene.child_count ? &scene.children[index] : NULL;
}

static pid_t pid_of(const struct child *child) {
  return FIRST_PID + (pid_t)(child - scene.children);
}

// Replaces spawn.c.
pid_t rd_spawn(const struct rd_spawning *spawning, struct rd_error *error) {
  struct stat status;
  if (scene.spawn_fails || scene.child_count == CHILDREN_MAX) {
    rd_error_set(error, RD_CODE_INTERNAL, "cannot start %s", spawning->file);
    return -1;
  }
  struct child *child = &scene.children[scene.child_count++];
  *child = (struct child){.fd_count = spawning->fd_count, .status = NOT_ENDED};
  for (size_t i = 0; i < spawning->fd_count; i++) {
    child->fds[i] = fcntl(spawning->fds[i], F_DUPFD_CLOEXEC, 3);
    FUZZ_REQUIRE(child->fds[i] >= 0);
  }
  child->reads_pipe = fstat(child->fds[0], &status) == 0 && S_ISFIFO(status.st_mode);
  return pid_of(child);
}

bool rd_spawn_is_dead(pid_t pid) {
  const struct child *child = child_of(pid);
  return child != NULL && child->status != NOT_ENDED && !child->is_reaped;
}

int rd_spawn_signals(struct rd_error *error) {
  int ends[2];
  (void)error;
  FUZZ_REQUIRE(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  scene.signal_fd = ends[1];
  return ends[0];
}

int rd_spawn_null_device(struct rd_error *error) {
  (void)error;
  return open("/dev/null", O_RDWR | O_CLOEXEC);
}

// Replaces hello.c.
char *rd_hello_line(const char *nonce, pid_t agent, int null_fd) {
  (void)nonce, (void)agent, (void)null_fd;
  return rd_memory_copy("hello", 5);
}

// Replaces process_list.c: every list contains the children that are alive.
static bool list_children(pid_t only, struct rd_process_list *list) {
  *list = (struct rd_process_list){.items = rd_memory_new(CHILDREN_MAX, sizeof *list->items)};
  for (size_t i = 0; i < scene.child_count; i++) {
    pid_t pid = pid_of(&scene.children[i]);
    if (scene.children[i].status == NOT_ENDED && (only == 0 || only == pid))
      list->items[list->count++] = (struct rd_process){.pid = pid, .parent = getpid(), .group = pid, .state = 'T'};
  }
  return true;
}

bool rd_process_list_below(pid_t root, struct rd_process_list *list, struct rd_error *error) {
  (void)root, (void)error;
  return list_children(0, list);
}

bool rd_process_list_group(pid_t leader, struct rd_process_list *list, struct rd_error *error) {
  (void)error;
  return list_children(leader, list);
}

void rd_process_list_clear(struct rd_process_list *list) {
  free(list->items);
}

int rd_process_signal(const struct rd_process *process, int number) {
  const struct child *child = child_of(process->pid);
  if (child == NULL || child->is_reaped) return ESRCH;
  return kill(process->pid, number) == 0 ? 0 : errno;
}

bool rd_process_is_foreign(pid_t pid) {
  (void)pid;
  return false;
}

void rd_process_command(pid_t pid, char *text, size_t text_bytes) {
  snprintf(text, text_bytes, "command of %d", (int)pid);
}

// Replace functions of the C library.
int kill(pid_t pid, int number) {
  struct child *child = child_of(pid < 0 ? -pid : pid);
  FUZZ_REQUIRE(child != NULL && !child->is_reaped); // otherwise another process may have the pid
  bool ends = number == SIGKILL || number == SIGTERM || number == SIGPIPE;
  if (child->status != NOT_ENDED || !ends) return 0;
  if (!child->is_stubborn) {
    end_child(child, W_EXITCODE(0, number));
    return 0;
  }
  errno = EPERM;
  return -1;
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage) {
  FUZZ_REQUIRE(pid == -1 && options == WNOHANG);
  for (size_t i = 0; i < scene.child_count; i++) {
    struct child *child = &scene.children[i];
    if (child->status == NOT_ENDED || child->is_reaped) continue;
    child->is_reaped = true;
    *status = child->status;
    *usage = (struct rusage){0};
    return pid_of(child);
  }
  return 0;
}

pid_t fork(void) {
  return FIRST_PID - 1; // the process that holds write ends
}

int access(const char *path, int mode) {
  (void)path, (void)mode;
  return 0;
}
