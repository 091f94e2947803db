// SPDX-License-Identifier: Apache-2.0
// Fuzzes one end of a hop in the agent: the shell that expands a file's name, then rdsend or rdrecv.
// The input is the output of these programs. No process is started or killed: this file replaces rd_spawn(), kill() and
// access().
#include "base/cleanup.h"
#include "base/io.h"
#include "base/spawn.h"
#include "fuzz.h"
#include "run/hop.h"
#include "runtime/lines.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define TURNS_MAX 64u
#define PIECE_MAX_BYTES 30000u // less than any socket accepts at once
#define LINE_MAX_BYTES (4u << 20)
#define NO_PID 0x7ffffff0 // above every real pid

struct scene {
  struct rd_agent agent;
  int events_fd, emit_fd; // the controller's end of the channel, and the agent's
  struct rd_line_reader *events;
  unsigned ends, finishes;
  struct rd_hop *hop;
};

static void prepare_hop(struct fuzz_input *input, struct rd_prepare_spec *prepare, struct rd_link_spec *link,
                        struct rd_stage_spec *file);
static void open_scene(struct scene *scene);
static void close_scene(struct scene *scene);
static void expand_path(struct scene *scene, struct fuzz_input *input);
static void act(struct scene *scene, struct fuzz_input *input);
static void write_input(int fd, struct fuzz_input *input, size_t most);
static void end_child(struct scene *scene, struct fuzz_input *input);
static void close_child(void);
static void read_events(struct scene *scene);
static bool check_line(void *context, const char *line, size_t bytes);
static void on_changed(void *context);
static void on_end(void *context);
static void on_finished(void *context, bool well);
static void on_request(void *context, struct rd_request *request);
static void on_lost(void *context, const struct rd_error *why);

// Descriptors of the child that was started last: 0 to 4 of a program, if it has them.
static int child_fds[RD_SPAWN_MAX_FDS] = {-1, -1, -1, -1, -1};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = {data, size};
  struct rd_prepare_spec prepare;
  struct rd_link_spec link;
  struct rd_stage_spec file;
  struct scene scene = {.ends = 0};
  prepare_hop(&input, &prepare, &link, &file);
  open_scene(&scene);
  const struct rd_hop_handler handler = {on_changed, on_end, on_finished, &scene};
  scene.hop = rd_hop_create(&scene.agent, &prepare, &link, link.side, &handler);
  rd_hop_open(scene.hop, scene.agent.null_fd, fuzz_u8(&input) & 1 ? scene.agent.null_fd : -1);
  if (scene.hop->expansion != NULL) expand_path(&scene, &input);
  for (unsigned turn = 0; turn < TURNS_MAX && input.left > 0 && !scene.hop->over; turn++) act(&scene, &input);
  if (!scene.hop->over) end_child(&scene, &input);
  read_events(&scene);
  FUZZ_REQUIRE(scene.hop->over && scene.finishes <= 1);
  rd_hop_destroy(scene.hop);
  json_decref(link.open);
  close_scene(&scene);
  return 0;
}

static void prepare_hop(struct fuzz_input *input, struct rd_prepare_spec *prepare, struct rd_link_spec *link,
                        struct rd_stage_spec *file) {
  static char text[] = "f";
  uint8_t how = fuzz_u8(input);
  *file = (struct rd_stage_spec){.number = 1, .kind = RD_STAGE_SOURCE, .text = text, .in = -1, .out = 1};
  *link = (struct rd_link_spec){.number = 1, .kind = RD_LINK_HOP, .source = RD_PARTY_STAGE, .open = json_object()};
  if (how & 1) {
    link->side = RD_SIDE_RECV;
    file->kind = RD_STAGE_SINK;
    file->in = 1;
    file->out = -1;
  }
  if (how & 2) file->kind = how & 8 ? RD_STAGE_TREE : RD_STAGE_COMMAND;
  if (how & 4) file->append = true;
  link->sink = link->source;
  *prepare = (struct rd_prepare_spec){.segment = 1, .stages = file, .stage_count = 1, .links = link};
  prepare->link_count = 1;
  prepare->connect_timeout_ms = 1000000;
}

static void open_scene(struct scene *scene) {
  static const struct rd_control_line_handler handler = {on_request, on_lost, NULL};
  int ends[2];
  FUZZ_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  scene->events_fd = ends[0];
  scene->emit_fd = ends[1];
  scene->events = rd_line_reader_create(scene->events_fd, LINE_MAX_BYTES);
  scene->agent = (struct rd_agent){.guard_fd = -1, .user_stdin = -1, .user_stdout = -1};
  scene->agent.null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  scene->agent.loop = rd_loop_create();
  scene->agent.control = rd_control_line_create(scene->agent.loop, ends[1], ends[1], &handler);
  FUZZ_REQUIRE(scene->agent.null_fd >= 0);
}

static void close_scene(struct scene *scene) {
  close_child();
  rd_control_line_destroy(scene->agent.control);
  rd_loop_destroy(scene->agent.loop);
  rd_line_reader_destroy(scene->events);
  rd_cleanup_fd(&scene->events_fd);
  rd_cleanup_fd(&scene->emit_fd);
  rd_cleanup_fd(&scene->agent.null_fd);
}

static void expand_path(struct scene *scene, struct fuzz_input *input) {
  write_input(child_fds[1], input, 2 * PATH_MAX);
  write_input(child_fds[2], input, 2 * PATH_MAX);
  end_child(scene, input);
}

// The program sends a message, or the agent calls the hop.
static void act(struct scene *scene, struct fuzz_input *input) {
  json_t *command;
  switch (fuzz_u8(input) % 8) {
  case 0:
    rd_hop_abort(scene->hop, "the input says so");
    break;
  case 1:
    rd_hop_commit(scene->hop, fuzz_u8(input));
    break;
  case 2:
    rd_hop_consumer(scene->hop, NO_PID);
    break;
  case 3:
    command = json_pack("{s:s}", "op", "listen");
    rd_hop_connect(scene->hop, command);
    json_decref(command);
    rd_hop_release(scene->hop);
    break;
  case 4:
    end_child(scene, input);
    break;
  default:
    write_input(child_fds[3], input, PIECE_MAX_BYTES);
    rd_hop_drain(scene->hop);
  }
  read_events(scene);
}

// Writes as much of the input as the child's pipe or socket accepts.
static void write_input(int fd, struct fuzz_input *input, size_t most) {
  const uint8_t *bytes;
  size_t count = fuzz_take(input, fuzz_u16(input) % most, &bytes);
  if (fd >= 0 && count > 0 && rd_set_nonblocking(fd)) (void)rd_write_some(fd, bytes, count);
}

// Ends a shell or the program.
static void end_child(struct scene *scene, struct fuzz_input *input) {
  uint8_t number = fuzz_u8(input);
  close_child();
  bool known = rd_hop_child_ended(
      scene->hop, NO_PID, number & 1 ? W_EXITCODE(0, number >> 1) : W_EXITCODE(number >> 1, 0), &(struct rd_usage){0});
  FUZZ_REQUIRE(known || scene->hop->over);
}

static void close_child(void) {
  for (size_t i = 0; i < RD_SPAWN_MAX_FDS; i++) rd_cleanup_fd(&child_fds[i]);
}

// Every line from the agent must be one event.
static void read_events(struct scene *scene) {
  struct rd_error error;
  rd_control_line_flush(scene->agent.control, 1);
  FUZZ_REQUIRE(rd_line_reader_take(scene->events, check_line, NULL, &error) == RD_LINES_MORE);
}

static bool check_line(void *context, const char *line, size_t bytes) {
  (void)context;
  json_t *event = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, NULL);
  FUZZ_REQUIRE(json_is_string(json_object_get(event, "event")));
  json_decref(event);
  return true;
}

static void on_changed(void *context) {
  (void)context;
}

static void on_end(void *context) {
  ((struct scene *)context)->ends++;
}

static void on_finished(void *context, bool well) {
  struct scene *scene = context;
  (void)well;
  scene->finishes++;
}

static void on_request(void *context, struct rd_request *request) {
  (void)context, (void)request;
}

static void on_lost(void *context, const struct rd_error *why) {
  (void)context, (void)why;
}

pid_t rd_spawn(const struct rd_spawning *spawning, struct rd_error *error) {
  (void)error;
  close_child();
  for (size_t i = 0; i < spawning->fd_count; i++) {
    child_fds[i] = fcntl(spawning->fds[i], F_DUPFD_CLOEXEC, 3);
    FUZZ_REQUIRE(child_fds[i] >= 0);
  }
  return NO_PID;
}

int kill(pid_t pid, int signal) {
  FUZZ_REQUIRE((pid == NO_PID || pid == -NO_PID) && signal == SIGKILL);
  return 0;
}

int access(const char *path, int mode) {
  (void)path, (void)mode;
  return 0;
}
