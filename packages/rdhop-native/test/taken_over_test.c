// SPDX-License-Identifier: Apache-2.0
// rdsend, rdrecv, rdforward, rdgather and a server's relay, taken over.
#include "taken_over.h"

#include "cli/confinement.h"
#include "forward/confinement.h"
#include "sandbox/sandbox.h"
#include "sink/sink.h"
#include "test.h"

#include <fcntl.h>
#include <string.h>

// As the loops do when their sink is open.
static void close_sink(const char *file) {
  struct rd_error error;
  struct rd_sink *sink = file != NULL ? rd_sink_open(file, false, &error) : NULL;
  rd_sandbox_close(file, sink != NULL ? rd_sink_directory_fd(sink) : -1);
}

static void confine_end(enum rd_role role, enum rd_mode mode, const char *file) {
  struct rd_options options = {.mode = mode, .role = role, .host = "127.0.0.1", .file = file};
  options.port = taken_over_places.port;
  rd_program_confine(&options, 0);
  close_sink(role == RD_ROLE_RECEIVER ? file : NULL);
}

static void confine_sender(void) {
  confine_end(RD_ROLE_SENDER, RD_MODE_STANDALONE, NULL);
}

static void confine_receiver(void) {
  confine_end(RD_ROLE_RECEIVER, RD_MODE_STANDALONE, NULL);
}

static void confine_file_receiver(void) {
  confine_end(RD_ROLE_RECEIVER, RD_MODE_STANDALONE, taken_over_places.file);
}

static void confine_agents_sender(void) {
  confine_end(RD_ROLE_SENDER, RD_MODE_AGENT, NULL);
}

static void confine_agents_receiver(void) {
  confine_end(RD_ROLE_RECEIVER, RD_MODE_AGENT, taken_over_places.file);
}

static void confine_forward(void) {
  struct rd_place target = {.address = "127.0.0.1", .port = taken_over_places.port};
  rd_forward_confine(&(struct rd_forward_needs){.targets = &target, .target_count = 1});
}

static void confine_socket_forward(void) {
  struct rd_place target = {.port = 0};
  struct rd_forward_listener listener = {.index = 0};
  memcpy(target.address, taken_over_places.socket, sizeof taken_over_places.socket);
  memcpy(listener.path, taken_over_places.socket, sizeof taken_over_places.socket);
  rd_forward_confine(
      &(struct rd_forward_needs){.targets = &target, .target_count = 1, .listeners = &listener, .listener_count = 1});
}

int main(int argc, char **argv) {
  (void)argv;
  static const struct taken_over_program programs[] = {
      {ROLE_SEND, "rdsend", confine_sender},
      {ROLE_RECEIVE, "rdrecv", confine_receiver},
      {ROLE_RECEIVE_FILE, "rdrecv to a file", confine_file_receiver},
      {ROLE_AGENT_SEND, "rdsend under the agent", confine_agents_sender},
      {ROLE_AGENT_RECEIVE, "rdrecv under the agent", confine_agents_receiver},
      {ROLE_FORWARD, "rdforward to a port", confine_forward},
      {ROLE_FORWARD_SOCKET, "rdforward to a local socket", confine_socket_forward},
      {ROLE_CLOSED, "rdgather, a relay", rd_sandbox_enter_closed},
  };
  return taken_over_suite("taken_over", programs, sizeof programs / sizeof *programs, argc);
}
