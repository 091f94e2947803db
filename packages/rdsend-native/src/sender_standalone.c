// SPDX-License-Identifier: Apache-2.0
#include "sender_standalone.h"

#include "base/cleanup.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define PRODUCER_MS 1000 // time for the producer to end after its reader has gone

static bool dial(struct rd_standalone *standalone, struct rd_command *command);
static void add_addresses(struct rd_command *command, const struct rd_options *options, bool rdma);
static bool after_exit(struct rd_standalone *standalone, struct rd_command *command);
static void end_producer(struct rd_standalone *standalone, enum rd_code code);
static bool producer_status(struct rd_standalone *standalone, enum rd_code code, int *status);
static bool is_whole(const struct rd_standalone *standalone);

const struct rd_standalone_ops rd_sender_standalone_ops = {
    .connect = dial, .after_exit = after_exit, .end_command = end_producer, .command_status = producer_status};

static bool dial(struct rd_standalone *standalone, struct rd_command *command) {
  const struct rd_options *options = standalone->options;
  if (standalone->connects++ > 0) return false;
  command->type = RD_COMMAND_DIAL;
  command->are_rails = strchr(options->host, ',') != NULL;
  if (standalone->over_rdma) add_addresses(command, options, true);
  if (standalone->over_tcp) add_addresses(command, options, false);
  return true;
}

static void add_addresses(struct rd_command *command, const struct rd_options *options, bool rdma) {
  for (const char *host = options->host; host != NULL;) {
    size_t length = strcspn(host, ",");
    struct rd_address *address = &command->addresses[command->address_count++];
    *address = (struct rd_address){.port = options->port, .rdma = rdma};
    snprintf(address->host, sizeof address->host, "%.*s", (int)length, host);
    host = host[length] == ',' ? host + length + 1 : NULL;
  }
}

// A producer's exit commits or aborts the stream. A consumer's exit is visible on its pipe.
static bool after_exit(struct rd_standalone *standalone, struct rd_command *command) {
  if (standalone->child.go_fd >= 0 || standalone->exit_reported || !rd_child_has_exited(&standalone->child))
    return false;
  standalone->exit_reported = true;
  int status = rd_child_status(&standalone->child);
  const char *producer = rd_standalone_is_tree(standalone) ? "rdtree" : "the producer";
  command->type = is_whole(standalone) ? RD_COMMAND_COMMIT : RD_COMMAND_ABORT;
  command->code = RD_CODE_ABORTED;
  if (status > 128)
    snprintf(command->reason, sizeof command->reason, "%s was killed by signal %d", producer, status - 128);
  else
    snprintf(command->reason, sizeof command->reason, "%s exited with status %d", producer, status);
  return true;
}

// Sends SIGPIPE, as in a local pipe, also because a producer that writes nothing would not notice that its reader is
// gone.
static void end_producer(struct rd_standalone *standalone, enum rd_code code) {
  if (code == RD_CODE_OK) return;
  rd_cleanup_fd(&standalone->child.pipe_fd);
  rd_child_signal(&standalone->child, SIGPIPE);
  if (!rd_child_wait(&standalone->child, PRODUCER_MS)) rd_child_signal(&standalone->child, SIGKILL);
}

static bool producer_status(struct rd_standalone *standalone, enum rd_code code, int *status) {
  bool has_failed = standalone->exit_reported && !is_whole(standalone);
  *status = rd_child_status(&standalone->child);
  return (has_failed && code == RD_CODE_ABORTED) || (rd_standalone_is_tree(standalone) && code == RD_CODE_OK);
}

// Returns true if the producer has sent all that it could.
static bool is_whole(const struct rd_standalone *standalone) {
  int status = rd_child_status(&standalone->child);
  return status == 0 || (rd_standalone_is_tree(standalone) && status == RD_TREE_FAILED_PATHS);
}
