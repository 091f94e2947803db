// SPDX-License-Identifier: Apache-2.0
#include "receiver_standalone.h"

#include "key_offer.h"

#include <signal.h>
#include <stdio.h>

#define TREE_END_MS 5000 // for rdtree to remove its temporary files
#define KILL_MS 10000

static bool listen_next(struct rd_standalone *standalone, struct rd_command *command);
static bool has_two(const struct rd_standalone *standalone);
static void listening(struct rd_standalone *standalone, const struct rd_event *event);
static void end_consumer(struct rd_standalone *standalone, enum rd_code code);
static bool consumer_status(struct rd_standalone *standalone, enum rd_code code, int *exit_status);

const struct rd_standalone_ops rd_receiver_standalone_ops = {
    .connect = listen_next, .listening = listening, .end_command = end_consumer, .command_status = consumer_status};

// RDMA first, because a sender that tries both begins with it; but TCP first if a free port is to be chosen.
static bool listen_next(struct rd_standalone *standalone, struct rd_command *command) {
  bool both = has_two(standalone), is_first = standalone->connects == 0;
  if (standalone->connects >= (both ? 2 : 1)) return false;
  standalone->connects++;
  bool rdma_is_first = standalone->options->port != 0;
  command->type = RD_COMMAND_LISTEN;
  command->listen = (struct rd_listen_command){.rdma = both ? is_first == rdma_is_first : standalone->over_rdma,
                                               .port = standalone->port};
  return true;
}

static bool has_two(const struct rd_standalone *standalone) {
  return standalone->over_rdma && standalone->over_tcp;
}

// A free port is printed once both listeners have it, because the sender tries RDMA first. Without TCP, a failure to
// listen over RDMA ends the run.
static void listening(struct rd_standalone *standalone, const struct rd_event *event) {
  bool failed = event->type == RD_EVENT_LISTEN_FAILED;
  bool goes_on = failed && event->rdma && standalone->over_tcp;
  if (failed && !goes_on) standalone->failure = *event->error;
  if (standalone->options->port == 0 && has_two(standalone) && standalone->connects == 1 && !failed) {
    standalone->port = event->port;
    return;
  }
  struct rd_event first = {.type = RD_EVENT_LISTENING, .port = standalone->port};
  if (standalone->port != 0) rd_display_event(&standalone->display, &first);
  rd_display_event(&standalone->display, event);
  uint16_t port = failed ? standalone->port : event->port;
  if (port != 0) rd_key_offer_show(standalone->options->settings.bind_host, port);
}

// The consumer must be dead before its input ends.
static void end_consumer(struct rd_standalone *standalone, enum rd_code code) {
  if (code == RD_CODE_OK || code == RD_CODE_CLOSED) return;
  if (rd_standalone_is_tree(standalone)) {
    rd_child_signal(&standalone->child, SIGTERM);
    rd_child_wait(&standalone->child, TREE_END_MS);
  }
  rd_child_signal(&standalone->child, SIGKILL);
  rd_child_wait(&standalone->child, KILL_MS);
}

// rdtree reports itself why it failed.
static bool consumer_status(struct rd_standalone *standalone, enum rd_code code, int *exit_status) {
  if (!standalone->child.exited || (code != RD_CODE_OK && code != RD_CODE_CLOSED)) return false;
  int status = rd_child_status(&standalone->child);
  char message[64];
  snprintf(message, sizeof message, "the consumer exited with status %d", status);
  bool is_reported = rd_standalone_is_tree(standalone) && status < 128;
  if (status != 0 && !is_reported) rd_display_line(&standalone->display, message);
  *exit_status = status;
  return true;
}
