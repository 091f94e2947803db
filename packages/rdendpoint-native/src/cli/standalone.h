// SPDX-License-Identifier: Apache-2.0
// Standalone control: commands from the command line, the child's exit, and signals.
#ifndef RD_CLI_STANDALONE_H
#define RD_CLI_STANDALONE_H

#include "cli/child.h"
#include "cli/display.h"
#include "cli/tree_program.h"
#include "cli/watchdog.h"

struct rd_standalone;

// The parts that differ between the two ends.
struct rd_standalone_ops {
  // Fills in the next command that connects. Returns false if there are no more.
  bool (*connect)(struct rd_standalone *standalone, struct rd_command *command);
  // Fills in the command that follows from the child's exit, once. NULL: there is no such command.
  bool (*after_exit)(struct rd_standalone *standalone, struct rd_command *command);
  // Handles RD_EVENT_LISTENING and RD_EVENT_LISTEN_FAILED. NULL: this end does not listen.
  void (*listening)(struct rd_standalone *standalone, const struct rd_event *event);
  // The stream is over: ends the child if it must not continue.
  void (*end_command)(struct rd_standalone *standalone, enum rd_code code);
  // Returns false if the exit status does not come from the child.
  bool (*command_status)(struct rd_standalone *standalone, enum rd_code code, int *status);
};

// Which command the loop gets next, in this order.
enum rd_step {
  RD_STEP_OPEN,
  RD_STEP_RING,
  RD_STEP_FILE,
  RD_STEP_CONNECT,
  RD_STEP_COMMAND,
  RD_STEP_COMMIT,
  RD_STEP_DONE
};

// Only for use by the two ends.
struct rd_standalone {
  struct rd_control control;
  const struct rd_standalone_ops *ops;
  const struct rd_options *options;
  struct rd_tree_program tree;
  char *const *command; // the user's, or rdtree; NULL: none
  const unsigned char *key;
  struct rd_display display;
  enum rd_step step;
  bool over_rdma, over_tcp; // the transports to try
  unsigned connects;        // number of commands that connect, so far
  uint16_t port;            // the free port that the first listener chose, for the second one; 0: none
  bool connected;
  struct rd_child child;
  struct rd_watchdog watchdog; // for the child
  bool exit_reported;          // the loop was given a command for its exit
  int signal_fd;
  int signal;              // the signal that ended the run; 0: none
  struct rd_error failure; // for the next RD_COMMAND_ABORT
  bool release_due;
};

// The options and `key` must outlive the result. NULL on failure.
struct rd_control *rd_standalone_create(const struct rd_standalone_ops *ops, const struct rd_options *options,
                                        const unsigned char key[RD_KEY_BYTES], struct rd_error *error);
void rd_standalone_destroy(struct rd_control *control); // accepts NULL
// Returns the leader of the command's process group; 0 if there is no command.
pid_t rd_standalone_command(const struct rd_control *control);
// Returns true if the command is rdtree.
bool rd_standalone_is_tree(const struct rd_standalone *standalone);

// Call after the loop: waits for the command and returns the exit status, or dies of the signal that ended the run.
int rd_standalone_end(struct rd_control *control, enum rd_code code);

#endif
