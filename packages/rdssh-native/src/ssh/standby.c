// SPDX-License-Identifier: Apache-2.0
#include "ssh/standby.h"

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/io.h"
#include "base/json_lines.h"
#include "base/memory.h"
#include "base/program_paths.h"
#include "base/spawn.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

// It accepts at once if it is not busy.
#define ACCEPT_MS 1000
#define TOKEN_BYTES 16u
#define STATUS_LOST 255

struct standby {
  struct rd_json_lines *lines;
  char key[2 * TOKEN_BYTES + 1], token[2 * TOKEN_BYTES + 1];
  pid_t agent; // on this machine, with the user's input and output; -1: none
  int signal_fd;
  sigset_t mask_before;
  enum { ASKED, AGREED, BEGUN, DECLINED, ENDED } state;
  int status; // ENDED
  int first_signal;
};

static bool begin(struct standby *standby, char *const *words, bool has_input, struct rd_error *error);
static void end(struct standby *standby);
static int open_connection(char key[2 * TOKEN_BYTES + 1], struct rd_error *error);
static bool read_key(const char *socket_path, char key[2 * TOKEN_BYTES + 1]);
static bool find_place(size_t index, struct sockaddr_un *address);
static bool name_socket(char *name, size_t bytes);
static bool is_own(int fd);
static bool make_token(struct standby *standby, struct rd_error *error);
static bool start_agent(struct standby *standby, struct rd_error *error);
static bool put_command(struct standby *standby, char *const *words, bool has_input, struct rd_error *error);
static json_t *hex_list(char *const *texts);
static json_t *hex_of(const char *text);
static bool leads_somewhere(int fd);
static int terminal_columns(void);
static void catch_signals(struct standby *standby);
static void turn(struct standby *standby);
static void hear(struct standby *standby);
static void take(struct standby *standby, const json_t *message);
static void agree(struct standby *standby);
static void show(const char *digits);
static void pass_on_signals(struct standby *standby);
static void put(struct standby *standby, json_t *message);
static void lose(struct standby *standby);
static void decline(struct standby *standby);

bool rd_standby_run(char *const *words, bool has_input, int *status) {
  struct standby standby = {.agent = -1, .signal_fd = -1, .state = ASKED, .status = STATUS_LOST};
  struct rd_error ignored;
  bool is_begun = begin(&standby, words, has_input, &ignored);
  while (is_begun && standby.state < DECLINED) turn(&standby);
  end(&standby);
  *status = standby.status;
  return standby.state == ENDED;
}

static bool begin(struct standby *standby, char *const *words, bool has_input, struct rd_error *error) {
  sigprocmask(SIG_SETMASK, NULL, &standby->mask_before);
  int fd = open_connection(standby->key, error);
  if (fd < 0) return false;
  standby->lines = rd_json_lines_create(fd, error);
  if (standby->lines == NULL || !make_token(standby, error)) return false;
  catch_signals(standby);
  return standby->signal_fd >= 0 && put_command(standby, words, has_input, error);
}

// If the command was declined, nothing may be left of the attempt.
static void end(struct standby *standby) {
  if (standby->agent > 0 && standby->state != ENDED) {
    kill(standby->agent, SIGKILL);
    while (waitpid(standby->agent, NULL, 0) < 0 && errno == EINTR) continue;
  }
  rd_json_lines_destroy(standby->lines);
  rd_cleanup_fd(&standby->signal_fd);
  if (standby->state != ENDED) sigprocmask(SIG_SETMASK, &standby->mask_before, NULL);
}

// Returns -1 if no process of this user listens. Stores the key that the other end expects.
static int open_connection(char key[2 * TOKEN_BYTES + 1], struct rd_error *error) {
  struct sockaddr_un address;
  for (size_t i = 0; find_place(i, &address); i++) {
    RD_AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool is_path = address.sun_path[0] != '\0';
    bool is_connected = is_path && fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    if (is_connected && is_own(fd) && read_key(address.sun_path, key)) return rd_take_fd(&fd);
  }
  rd_error_set(error, RD_CODE_CANNOT_CONNECT, "no standby listens");
  return -1;
}

// A program that lost its rights to read files cannot connect.
static bool read_key(const char *socket_path, char key[2 * TOKEN_BYTES + 1]) {
  char path[sizeof((struct sockaddr_un *)0)->sun_path + 8];
  snprintf(path, sizeof path, "%s.key", socket_path);
  RD_AUTO_CLOSE int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : rd_read_some(fd, key, 2 * TOKEN_BYTES);
  key[got < 0 ? 0 : got] = '\0';
  return got == 2 * TOKEN_BYTES && strspn(key, "0123456789abcdef") == 2 * TOKEN_BYTES;
}

// The places of persistent-path.ts. Returns false after the last one.
static bool find_place(size_t index, struct sockaddr_un *address) {
  static const struct {
    const char *variable, *below;
  } places[] = {{"XDG_RUNTIME_DIR", "rdpipe/ssh"}, {"HOME", ".cache/rdpipe/ssh"}};
  char name[80];
  if (index >= sizeof places / sizeof *places || !name_socket(name, sizeof name)) return false;
  const char *base = getenv(places[index].variable);
  bool is_path = base != NULL && *base == '/';
  *address = (struct sockaddr_un){.sun_family = AF_UNIX};
  size_t bytes = (size_t)snprintf(address->sun_path, sizeof address->sun_path, "%s/%s/%s", is_path ? base : "",
                                  places[index].below, name);
  if (!is_path || bytes >= sizeof address->sun_path) address->sun_path[0] = '\0';
  return true;
}

// As in cli/standby.ts: another version of this program has another name.
static bool name_socket(char *name, size_t bytes) {
  struct stat self;
  if (stat("/proc/self/exe", &self) < 0) return false;
  snprintf(name, bytes, "standby-%jx-%jx-%jx", (uintmax_t)self.st_dev, (uintmax_t)self.st_ino,
           (uintmax_t)self.st_mtim.tv_sec);
  return true;
}

static bool is_own(int fd) {
  struct ucred peer;
  socklen_t bytes = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

// By which the standby recognizes the connection of the agent.
static bool make_token(struct standby *standby, struct rd_error *error) {
  unsigned char random[TOKEN_BYTES];
  if (getrandom(random, sizeof random, 0) == (ssize_t)sizeof random)
    return rd_hex_encode(random, sizeof random, standby->token, sizeof standby->token);
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot get random bytes");
  return false;
}

// Its nonce is that of served.ts: the agent runs before its first line is read.
static bool start_agent(struct standby *standby, struct rd_error *error) {
  char directory[4096], path[sizeof directory + 16], line[128];
  RD_AUTO_CLOSE int fd = open_connection(standby->key, error);
  if (fd < 0 || !rd_program_paths_directory(directory, sizeof directory, error)) return false;
  int bytes = snprintf(line, sizeof line, "{\"key\":\"%s\",\"agent\":\"%s\"}\n", standby->key, standby->token);
  if (!rd_write_all(fd, line, (size_t)bytes)) return false;
  snprintf(path, sizeof path, "%s/rdstage", directory);
  char *const arguments[] = {"rdstage", "--agent", "--nonce", "serve", "--user-stdin", "3", "--user-stdout", "4", NULL};
  const struct rd_spawning spawning = {.file = path,
                                       .arguments = arguments,
                                       .fds = {fd, fd, STDERR_FILENO, STDIN_FILENO, STDOUT_FILENO},
                                       .fd_count = 5,
                                       .group = RD_SPAWN_GROUP_SESSION};
  standby->agent = rd_spawn(&spawning, error);
  return standby->agent > 0;
}

static bool put_command(struct standby *standby, char *const *words, bool has_input, struct rd_error *error) {
  char directory[4096];
  mode_t mask = umask(0);
  umask(mask);
  if (getcwd(directory, sizeof directory) == NULL) return false;
  json_t *command =
      json_pack("{s:s,s:s,s:o,s:o,s:o,s:i,s:b,s:b,s:i}", "key", standby->key, "token", standby->token, "words",
                hex_list(words), "environment", hex_list(environ), "directory", hex_of(directory), "umask", (int)mask,
                "input", (int)(has_input && leads_somewhere(STDIN_FILENO)), "output",
                (int)leads_somewhere(STDOUT_FILENO), "columns", terminal_columns());
  bool fits = command != NULL && json_dumpb(command, NULL, 0, JSON_COMPACT) < RD_JSON_LINE_MAX_BYTES;
  if (fits)
    put(standby, command);
  else
    json_decref(command);
  if (!fits) rd_error_set(error, RD_CODE_USAGE, "the command is too long");
  return fits;
}

static json_t *hex_list(char *const *texts) {
  json_t *list = json_array();
  for (; *texts != NULL; texts++) json_array_append_new(list, hex_of(*texts));
  return list;
}

static json_t *hex_of(const char *text) {
  size_t count = strlen(text);
  RD_AUTO_FREE char *digits = rd_memory_new(2 * count + 1, 1);
  rd_hex_encode((const unsigned char *)text, count, digits, 2 * count + 1);
  return json_string(digits);
}

// Returns false for the null device.
static bool leads_somewhere(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && !(S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3));
}

// Of the terminal on standard error; 0: it is another file.
static int terminal_columns(void) {
  struct winsize size;
  if (!isatty(STDERR_FILENO)) return 0;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void catch_signals(struct standby *standby) {
  static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP};
  sigset_t caught;
  sigemptyset(&caught);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction now;
    // A blocked signal arrives even if it is ignored.
    if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&caught, signals[i]);
  }
  sigprocmask(SIG_BLOCK, &caught, NULL);
  standby->signal_fd = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void turn(struct standby *standby) {
  struct pollfd polled[] = {rd_json_lines_poll(standby->lines), {.fd = standby->signal_fd, .events = POLLIN}};
  int ready = poll(polled, 2, standby->state == ASKED ? ACCEPT_MS : -1);
  if (ready == 0 || (ready < 0 && errno != EINTR)) lose(standby);
  if (ready <= 0) return;
  if (polled[1].revents != 0) pass_on_signals(standby);
  if (polled[0].revents != 0) hear(standby);
}

static void hear(struct standby *standby) {
  struct rd_error ignored;
  json_t *message = NULL;
  enum rd_outcome outcome = RD_OUTCOME_DONE;
  while (standby->state < DECLINED && outcome == RD_OUTCOME_DONE) {
    outcome = rd_json_lines_next(standby->lines, &message, &ignored);
    if (outcome == RD_OUTCOME_DONE) take(standby, message);
    if (outcome == RD_OUTCOME_DONE) json_decref(message);
  }
  if (outcome == RD_OUTCOME_FAILED) lose(standby);
}

static void take(struct standby *standby, const json_t *message) {
  const char *event = json_string_value(json_object_get(message, "event"));
  if (event == NULL) return;
  if (strcmp(event, "accepted") == 0 && standby->state == ASKED) {
    agree(standby);
  } else if (strcmp(event, "begun") == 0) {
    standby->state = BEGUN;
  } else if (strcmp(event, "stderr") == 0) {
    show(json_string_value(json_object_get(message, "data")));
  } else if (strcmp(event, "stop") == 0) {
    kill(getpid(), SIGSTOP);
    put(standby, json_pack("{s:s}", "signal", "SIGCONT"));
  } else if (strcmp(event, "declined") == 0) {
    decline(standby);
  } else if (strcmp(event, "ended") == 0) {
    standby->state = ENDED;
    standby->status = (int)json_integer_value(json_object_get(message, "status"));
  }
}

static void agree(struct standby *standby) {
  struct rd_error ignored;
  standby->state = start_agent(standby, &ignored) ? AGREED : DECLINED;
  if (standby->state == AGREED) put(standby, json_pack("{s:b}", "agreed", 1));
}

static void show(const char *digits) {
  size_t count = digits == NULL ? 0 : strlen(digits);
  RD_AUTO_FREE unsigned char *bytes = rd_memory_new(count / 2 + 1, 1);
  if (count > 0 && rd_hex_decode(digits, count, bytes, count / 2, &count))
    (void)rd_write_all(STDERR_FILENO, bytes, count);
}

static void pass_on_signals(struct standby *standby) {
  struct signalfd_siginfo info;
  while (read(standby->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
    int number = (int)info.ssi_signo;
    const char *name = number == SIGINT    ? "SIGINT"
                       : number == SIGTERM ? "SIGTERM"
                       : number == SIGHUP  ? "SIGHUP"
                                           : "SIGTSTP";
    if (number != SIGTSTP && standby->first_signal != 0) _exit(128 + number);
    if (number != SIGTSTP) standby->first_signal = number;
    if (number != SIGTSTP && standby->state < AGREED) _exit(128 + number); // nothing has begun
    put(standby, json_pack("{s:s}", "signal", name));
  }
}

static void put(struct standby *standby, json_t *message) {
  if (message != NULL) rd_json_lines_put(standby->lines, message, false);
}

// The other process is gone, or does not answer. Once the command runs it cannot be run again.
static void lose(struct standby *standby) {
  if (standby->state == BEGUN) fprintf(stderr, "rdssh: the process that ran this command was ended\n");
  if (standby->state == BEGUN)
    standby->state = ENDED;
  else
    decline(standby);
}

// A command that the user has ended is not run otherwise.
static void decline(struct standby *standby) {
  standby->state = standby->first_signal != 0 ? ENDED : DECLINED;
}
