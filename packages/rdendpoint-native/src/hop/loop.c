// SPDX-License-Identifier: Apache-2.0
#include "hop/loop.h"

#include "base/io.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SHUTDOWN_MS 2000
#define CLOSED_MS 5000 // for the sender's BYE after this end's CLOSED

static bool pass(struct rd_endpoint *endpoint, struct rd_error *error);
static bool handle_commands(struct rd_endpoint *endpoint, struct rd_error *error);
static bool pump(struct rd_endpoint *endpoint, struct rd_error *error);
static bool receive(struct rd_endpoint *endpoint, struct rd_error *error);
static bool take_frame(struct rd_endpoint *endpoint, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool take_abort(struct rd_endpoint *endpoint, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static void wait(struct rd_endpoint *endpoint);
static size_t fill_in(struct rd_endpoint *endpoint, struct pollfd polls[RD_POLLS_MAX], enum rd_wait *wait,
                      int64_t *timeout_ns);
static int64_t sooner(int64_t timeout_ns, int other_ms);

void rd_loop_run(struct rd_endpoint *endpoint, struct rd_error *end) {
  while (pass(endpoint, end) || rd_endpoint_part(endpoint, end)) {
    if (endpoint->phase == RD_PHASE_OVER) {
      *end = (struct rd_error){.code = RD_CODE_OK};
      return;
    }
    rd_endpoint_emit_counters(endpoint, false);
    wait(endpoint);
  }
}

bool rd_loop_shutdown(struct rd_endpoint *endpoint, const struct rd_error *end) {
  struct rd_connection *connection = endpoint->connection;
  bool is_sender = endpoint->role == RD_ROLE_SENDER;
  bool is_gone = rd_code_is_loss(end->code) || end->code == RD_CODE_PEER_STALLED;
  bool is_good = end->code == RD_CODE_OK || end->code == RD_CODE_CLOSED;
  uint64_t bytes = endpoint->meter.bytes;
  struct rd_error lost;
  if (connection == NULL || is_gone || (endpoint->peer_ended && !(is_good && is_sender))) {
    // the peer knows, or cannot be reached
  } else if (is_good && is_sender) {
    rd_connection_send_final(connection, RD_FRAME_BYE, bytes, NULL, 0, SHUTDOWN_MS, &lost);
  } else if (end->code == RD_CODE_CLOSED) {
    return rd_connection_send_final(connection, RD_FRAME_CLOSED, bytes, NULL, 0, CLOSED_MS, &lost) ||
           !rd_endpoint_reconnect(endpoint, &lost);
  } else if (end->code != RD_CODE_OK) {
    struct rd_abort abort = {.code = end->code};
    unsigned char payload[RD_CONTROL_PAYLOAD_MAX_BYTES];
    snprintf(abort.reason, sizeof abort.reason, "%s", end->message);
    size_t payload_bytes = rd_abort_encode(&abort, payload);
    rd_connection_send_final(connection, RD_FRAME_ABORT, bytes, payload, payload_bytes, SHUTDOWN_MS, &lost);
  }
  return true;
}

void rd_loop_finish(struct rd_endpoint *endpoint, const struct rd_error *end) {
  rd_endpoint_emit_counters(endpoint, true);
  struct rd_event event = {.type = RD_EVENT_FINISHED,
                           .error = end,
                           .bytes = endpoint->meter.bytes,
                           .wire_bytes = endpoint->meter.wire_bytes,
                           .usage = rd_usage_so_far()};
  endpoint->control->ops->emit(endpoint->control, &event);
}

bool rd_loop_out_of_place(const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the other side sent a frame of type %d at offset %" PRIu64 " out of place",
               (int)rx_frame->header.type, rx_frame->header.offset);
  return false;
}

static bool pass(struct rd_endpoint *endpoint, struct rd_error *error) {
  if (!handle_commands(endpoint, error) || !rd_endpoint_connect(endpoint, error) ||
      !endpoint->ops->prepare(endpoint->context, error))
    return false;
  return endpoint->connection == NULL || pump(endpoint, error) || rd_endpoint_reconnect(endpoint, error);
}

static bool handle_commands(struct rd_endpoint *endpoint, struct rd_error *error) {
  struct rd_control *control = endpoint->control;
  struct rd_command command;
  while (control->ops->next(control, &command)) {
    bool handled = endpoint->ops->handle_command(endpoint->context, &command, error);
    explicit_bzero(command.settings.key, sizeof command.settings.key);
    if (!handled) return false;
  }
  return true;
}

// If the connection breaks, the peer's last frames explain more than the error of the connection.
static bool pump(struct rd_endpoint *endpoint, struct rd_error *error) {
  struct rd_error last;
  if (!receive(endpoint, error)) return false;
  if (endpoint->phase == RD_PHASE_OVER || endpoint->ops->transmit(endpoint->context, error)) return true;
  if (!rd_code_is_loss(error->code)) return false;
  if (!receive(endpoint, &last) && !rd_code_is_loss(last.code)) *error = last;
  return endpoint->phase == RD_PHASE_OVER;
}

static bool receive(struct rd_endpoint *endpoint, struct rd_error *error) {
  struct rd_connection *connection = endpoint->connection;
  struct rd_rx_frame rx_frame;
  while (endpoint->phase != RD_PHASE_OVER) {
    enum rd_outcome received = rd_connection_receive(connection, &rx_frame, error);
    if (received != RD_OUTCOME_DONE) return received == RD_OUTCOME_AGAIN;
    if (!take_frame(endpoint, &rx_frame, error)) return false;
    if (rx_frame.header.type != RD_FRAME_DATA) rd_connection_give_back(connection, &rx_frame);
  }
  return true;
}

static bool take_frame(struct rd_endpoint *endpoint, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  if (rx_frame->header.type == RD_FRAME_ABORT) return take_abort(endpoint, rx_frame, error);
  return endpoint->ops->take_frame(endpoint->context, rx_frame, error);
}

static bool take_abort(struct rd_endpoint *endpoint, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  struct rd_abort abort;
  if (!rd_abort_decode(rx_frame->payload, rx_frame->bytes, &abort, error)) return false;
  endpoint->peer_ended = true;
  rd_error_set(error, RD_CODE_ABORTED, "the other side ended the stream: %s", abort.reason);
  return false;
}

// Waits for commands, the peer or the role's own sources, or until a keepalive or the counters are due.
static void wait(struct rd_endpoint *endpoint) {
  struct pollfd polls[RD_POLLS_MAX];
  enum rd_wait wait = RD_WAIT_NONE;
  int64_t timeout_ns;
  size_t count = fill_in(endpoint, polls, &wait, &timeout_ns);
  int64_t before_ns = rd_now_ns();
  // A loop that never sleeps must not keep the CPU from the process that it waits for.
  if (endpoint->settings.poll) sched_yield();
  struct timespec timeout = {.tv_sec = timeout_ns / RD_NS_A_SECOND, .tv_nsec = timeout_ns % RD_NS_A_SECOND};
  ppoll(polls, count, timeout_ns < 0 ? NULL : &timeout, NULL);
  if (polls[RD_POLL_COMMANDS].revents != 0) endpoint->control->due = true;
  if (endpoint->connection != NULL && polls[RD_POLL_WIRE].revents == 0) rd_connection_quiet(endpoint->connection);
  if (endpoint->connection != NULL && polls[RD_POLL_WORK].revents != 0) rd_connection_worked(endpoint->connection);
  endpoint->establisher_due = endpoint->establisher != NULL && rd_establisher_timeout_ms(endpoint->establisher) == 0;
  for (size_t i = RD_POLL_CONNECTING; i < count; i++) endpoint->establisher_due |= polls[i].revents != 0;
  if (endpoint->joined) rd_meter_add_wait(&endpoint->meter, wait, rd_now_ns() - before_ns);
  endpoint->ops->woken(endpoint->context, polls);
}

// Returns the number of sources.
static size_t fill_in(struct rd_endpoint *endpoint, struct pollfd polls[RD_POLLS_MAX], enum rd_wait *wait,
                      int64_t *timeout_ns) {
  struct rd_control *control = endpoint->control;
  const struct rd_connection *connection = endpoint->connection;
  size_t count = RD_POLL_CONNECTING;
  for (size_t i = 0; i < count; i++) polls[i] = (struct pollfd){.fd = -1};
  *timeout_ns = endpoint->ops->wait_for(endpoint->context, polls, wait);
  *timeout_ns = sooner(*timeout_ns, rd_meter_timeout_ms(&endpoint->meter));
  polls[RD_POLL_COMMANDS] = control->ops->poll(control);
  if (connection != NULL) {
    polls[RD_POLL_WIRE] =
        (struct pollfd){.fd = rd_connection_poll_fd(connection), .events = rd_connection_poll_events(connection)};
    polls[RD_POLL_WORK] = (struct pollfd){.fd = rd_connection_work_fd(connection), .events = POLLIN};
    *timeout_ns = sooner(*timeout_ns, rd_connection_timeout_ms(connection));
  }
  if (endpoint->establisher != NULL) {
    count += rd_establisher_polls(endpoint->establisher, &polls[RD_POLL_CONNECTING]);
    *timeout_ns = sooner(*timeout_ns, rd_establisher_timeout_ms(endpoint->establisher));
  }
  return count;
}

// In both arguments a negative value means no limit.
static int64_t sooner(int64_t timeout_ns, int other_ms) {
  int64_t other_ns = rd_ns_of_ms(other_ms);
  if (timeout_ns < 0) return other_ns;
  return other_ns < 0 || timeout_ns < other_ns ? timeout_ns : other_ns;
}
