// SPDX-License-Identifier: Apache-2.0
// Tests an rdrecv that must ask before the first byte.
// If it gets the same command again while it writes, it continues, and sleeps while there is nothing to do.
#include "memory_transport.h"
#include "recv_loop.h"
#include "script_control.h"
#include "send_loop.h"

#include <fcntl.h>

#define COUNTERS 7u // number of quarters of a second: held data is held for one second

static struct script receiver;
static int output[2];
static bool was_asked, was_shown, commanded_again;
static unsigned counters, polls; // since the second command

static struct pollfd count_poll(const struct rd_control *control) {
  if (commanded_again) polls++;
  return script_poll(control);
}

static struct rd_command ready(void) {
  return (struct rd_command){.type = RD_COMMAND_READY, .fd = output[1], .asks = true};
}

static bool next(struct rd_control *control, struct rd_command *command) {
  if (was_asked && !was_shown) {
    was_shown = true;
    *command = (struct rd_command){.type = RD_COMMAND_SHOW};
    return true;
  }
  char byte;
  if (was_shown && !commanded_again && read(output[0], &byte, 1) == 1) {
    commanded_again = true;
    *command = ready();
    return true;
  }
  return script_next(control, command);
}

static void tell(struct rd_control *control, const struct rd_event *event) {
  if (event->type == RD_EVENT_OUTPUT) was_asked = true;
  if (event->type == RD_EVENT_COUNTERS && commanded_again && ++counters == COUNTERS) receiver.aborts = true;
  script_tell(control, event);
}

static void begin(struct script *script, struct rd_transport *transport, const struct rd_command *end) {
  script_add(script, RD_COMMAND_OPEN)->settings = script_settings(RD_ENCRYPT_NEVER, 64u << 10);
  *script_add(script, RD_COMMAND_READY) = *end;
  struct rd_command *adopt = script_add(script, RD_COMMAND_ADOPT);
  adopt->transport = transport;
  adopt->is_dialer = script->loop == rd_send_loop;
}

int main(void) {
  static const struct rd_control_ops ops = {count_poll, next, tell};
  struct rd_transport *ends[2];
  struct rd_error error;
  struct script sender;
  int input[2];
  REQUIRE(pipe2(output, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(input, O_CLOEXEC) == 0);
  REQUIRE(write(input[1], "x", 1) == 1 && rd_mem_pair(NULL, ends, &error));
  script_init(&sender, rd_send_loop);
  script_init(&receiver, rd_recv_loop);
  receiver.control.ops = &ops;
  begin(&sender, ends[0], &(struct rd_command){.type = RD_COMMAND_READY, .fd = input[0]});
  const struct rd_command first = ready();
  begin(&receiver, ends[1], &first);
  script_start(&sender);
  script_start(&receiver);
  script_join(&receiver);
  script_join(&sender);
  CHECK(commanded_again && receiver.code == RD_CODE_ABORTED);
  CHECK(polls < 100);
  return test_end("held");
}
