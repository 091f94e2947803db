// SPDX-License-Identifier: Apache-2.0
#include "send_loop.h"

#include "base/io.h"
#include "conn/credit.h"
#include "hop/loop.h"
#include "input.h"
#include "source/limit.h"

#include <inttypes.h>

// As many bytes as one system call sends, if they consist of several frames.
#define GATHERED_BYTES (1u << 20)

struct sender {
  struct rd_endpoint endpoint;
  struct rd_input input; // begins once there is a connection
  struct rd_credit credit;
  struct rd_limit limit;
  size_t chunk_bytes; // the largest DATA payload
  uint64_t sent;      // stream offset
  uint64_t acked;     // stream offset: written by the receiver, in a chain also by all hosts after it
  // State at the end of the last pass: only later news wakes the loop.
  uint64_t filled_seen;
  bool end_seen;
  bool is_last; // of the last host in a chain: there is no peer any more
  enum rd_wait wait;
};

static bool handle_command(void *context, const struct rd_command *command, struct rd_error *error);
static bool become_last(struct sender *sender);
static bool attach(void *context, struct rd_error *error);
static void detach(void *context, struct rd_connection *connection);
static bool prepare(void *context, struct rd_error *error);
static size_t ring_bytes(const struct sender *sender);
static bool register_ring(struct sender *sender, struct rd_error *error);
static bool take_frame(void *context, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool take_ack(struct sender *sender, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool take_resume(struct sender *sender, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool transmit(void *context, struct rd_error *error);
static void limit_ring(struct sender *sender);
static bool send_data(struct sender *sender, struct rd_error *error);
static size_t next_chunk(struct sender *sender, const unsigned char **bytes);
static bool send_end(struct sender *sender, struct rd_error *error);
static int64_t wait_for(void *context, struct pollfd polls[RD_POLLS_MAX], enum rd_wait *wait);
static enum rd_wait what_for(const struct sender *sender, bool may_transmit);
static void woken(void *context, const struct pollfd polls[RD_POLLS_MAX]);
static enum rd_behind behind_of(enum rd_code code);

static const struct rd_loop_ops ops = {.handle_command = handle_command,
                                       .attach = attach,
                                       .detach = detach,
                                       .prepare = prepare,
                                       .take_frame = take_frame,
                                       .transmit = transmit,
                                       .wait_for = wait_for,
                                       .woken = woken};

enum rd_code rd_send_loop(struct rd_control *control) {
  struct sender sender = {.wait = RD_WAIT_NONE};
  struct rd_error end;
  rd_endpoint_init(&sender.endpoint, RD_ROLE_SENDER, control, &ops, &sender);
  rd_loop_run(&sender.endpoint, &end);
  (void)rd_loop_shutdown(&sender.endpoint, &end);
  rd_endpoint_clear(&sender.endpoint);
  if (sender.input.relay != NULL && !sender.is_last) rd_relay_set_behind(sender.input.relay, behind_of(end.code));
  (void)rd_input_clear(&sender.input);
  rd_loop_finish(&sender.endpoint, &end);
  return end.code;
}

static bool handle_command(void *context, const struct rd_command *command, struct rd_error *error) {
  struct sender *sender = context;
  if (command->type == RD_COMMAND_LAST) return become_last(sender);
  return rd_input_handle_command(&sender->input, command, sender->endpoint.control, error) &&
         rd_endpoint_handle_command(&sender->endpoint, command, error);
}

// From now on the receiver on this host need not wait for other hosts.
static bool become_last(struct sender *sender) {
  struct rd_error gone;
  rd_error_set(&gone, RD_CODE_PEER_LOST, "there are no more hosts after this one");
  (void)rd_endpoint_part(&sender->endpoint, &gone);
  sender->is_last = true;
  if (sender->input.relay != NULL) rd_relay_set_behind(sender->input.relay, RD_BEHIND_NONE);
  sender->endpoint.phase = RD_PHASE_OVER;
  return true;
}

static bool attach(void *context, struct rd_error *error) {
  struct sender *sender = context;
  const struct rd_connection *connection = sender->endpoint.connection;
  const struct rd_hello *peer = &rd_connection_agreement(connection)->peer;
  sender->chunk_bytes = rd_connection_data_most_bytes(connection);
  rd_credit_init(&sender->credit, peer->slots, peer->small_slots);
  return register_ring(sender, error);
}

// The ring still contains the bytes that were sent but not acknowledged.
static void detach(void *context, struct rd_connection *connection) {
  (void)context;
  rd_connection_destroy(connection);
}

// Starts to read once there are an input and a peer.
static bool prepare(void *context, struct rd_error *error) {
  struct sender *sender = context;
  const struct rd_settings *settings = &sender->endpoint.settings;
  if (sender->endpoint.connection == NULL || sender->input.ring != NULL) return true;
  bool is_checked = settings->chain || sender->endpoint.protection == RD_PROTECTION_NONE;
  if (!rd_input_begin(&sender->input, ring_bytes(sender), is_checked ? &settings->signing : NULL, error)) return false;
  rd_limit_init(&sender->limit, settings->limit, rd_now_ns());
  return register_ring(sender, error);
}

// A shared ring has more memory than it holds: all of it must fit what a device may register.
static size_t ring_bytes(const struct sender *sender) {
  size_t bytes = sender->endpoint.ring_bytes;
  bool has_device = rd_connection_device(sender->endpoint.connection) != NULL;
  bool is_shared = sender->input.shared != NULL && bytes > RD_RING_SPARE_BYTES;
  return has_device && is_shared ? bytes - RD_RING_SPARE_BYTES : bytes;
}

// The receiver on this host has chosen the size of a relay's ring. If the device may not have memory for all of it,
// each message is registered separately.
static bool register_ring(struct sender *sender, struct rd_error *error) {
  size_t bytes, most_bytes = rd_connection_register_most_bytes(sender->endpoint.connection);
  if (sender->input.ring == NULL) return true;
  rd_ring_return_memory(sender->input.ring, rd_connection_device(sender->endpoint.connection) == NULL);
  const unsigned char *memory = rd_ring_memory(sender->input.ring, &bytes);
  if (bytes > most_bytes && sender->chunk_bytes > most_bytes) sender->chunk_bytes = most_bytes;
  if (bytes > most_bytes) return true;
  return rd_connection_register(sender->endpoint.connection, memory, bytes, error);
}

static bool take_frame(void *context, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  struct sender *sender = context;
  switch (rx_frame->header.type) {
  case RD_FRAME_ACK:
    return take_ack(sender, rx_frame, error);
  case RD_FRAME_RESUME:
    return take_resume(sender, rx_frame, error);
  case RD_FRAME_DONE:
    if (sender->endpoint.phase != RD_PHASE_END || rx_frame->header.offset != sender->sent) break;
    sender->endpoint.phase = RD_PHASE_OVER;
    return true;
  case RD_FRAME_CLOSED:
    sender->endpoint.peer_ended = true;
    rd_error_set(error, RD_CODE_CLOSED, "the consumer closed its input");
    return false;
  default:
    break;
  }
  return rd_loop_out_of_place(rx_frame, error);
}

static bool take_ack(struct sender *sender, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  uint64_t offset = rx_frame->header.offset, frames;
  if (sender->input.ring == NULL || sender->endpoint.phase == RD_PHASE_RESUME || offset < sender->acked ||
      offset > sender->sent)
    return rd_loop_out_of_place(rx_frame, error);
  if (!rd_ack_decode(rx_frame->payload, rx_frame->bytes, &frames, error) ||
      !rd_credit_take(&sender->credit, frames, error))
    return false;
  sender->acked = sender->endpoint.moved_bytes = offset;
  rd_input_release(&sender->input, offset);
  return true;
}

// The previous connection lost the bytes after the offset, and the ACK of the bytes before it. In a chain, hosts after
// the receiver may still lack bytes that the receiver has.
static bool take_resume(struct sender *sender, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  uint64_t offset = rx_frame->header.offset;
  if (sender->endpoint.phase != RD_PHASE_RESUME || rx_frame->bytes > 0 || offset < sender->acked ||
      offset > sender->sent)
    return rd_loop_out_of_place(rx_frame, error);
  sender->endpoint.phase = RD_PHASE_DATA;
  sender->sent = sender->endpoint.meter.bytes = offset;
  if (!sender->endpoint.settings.chain) sender->acked = offset;
  if (sender->input.ring != NULL) rd_input_release(&sender->input, sender->acked);
  rd_endpoint_emit_resumed(&sender->endpoint, offset);
  return true;
}

static bool transmit(void *context, struct rd_error *error) {
  struct sender *sender = context;
  struct rd_connection *connection = sender->endpoint.connection;
  sender->wait = RD_WAIT_INPUT;
  if (sender->input.ring != NULL && sender->input.relay == NULL && sender->endpoint.lanes_most > 1) limit_ring(sender);
  bool may_send = sender->input.ring != NULL && sender->endpoint.phase != RD_PHASE_RESUME;
  if (may_send && !(send_data(sender, error) && send_end(sender, error))) return false;
  return rd_connection_flush(connection, error) && rd_connection_tick(connection, error);
}

// The ring of a source has memory for all lanes that there may be. While there are fewer, less is in flight. The ring
// of a relay has its writer, the receiver on this host, and room for a window.
static void limit_ring(struct sender *sender) {
  const struct rd_settings *settings = &sender->endpoint.settings;
  size_t buffer_bytes = rd_window_buffer_bytes((size_t)settings->buffer, sender->endpoint.lanes);
  size_t limit_bytes = rd_window_ring_bytes(buffer_bytes, settings->behind);
  size_t least_bytes = sender->input.shared != NULL ? RD_INPUT_SHARED_MIN_BYTES : 0;
  rd_ring_set_limit(sender->input.ring, limit_bytes > least_bytes ? limit_bytes : least_bytes);
}

static bool send_data(struct sender *sender, struct rd_error *error) {
  struct rd_connection *connection = sender->endpoint.connection;
  size_t gathered = 0;
  while (rd_credit_available(&sender->credit)) {
    const unsigned char *bytes;
    size_t count = next_chunk(sender, &bytes);
    if (count == 0) return true;
    sender->wait = RD_WAIT_WIRE;
    rd_input_sending(&sender->input, sender->sent, bytes, count);
    enum rd_outcome sent = rd_connection_send(connection, RD_FRAME_DATA, sender->sent, bytes, count, error);
    if (sent != RD_OUTCOME_DONE) return sent == RD_OUTCOME_AGAIN;
    rd_credit_spend(&sender->credit, count);
    rd_limit_spend(&sender->limit, count);
    sender->sent += count;
    sender->endpoint.meter.bytes = sender->sent;
    gathered += count;
    if (gathered >= GATHERED_BYTES) {
      if (!rd_connection_flush(connection, error)) return false;
      gathered = 0;
    }
    sender->wait = RD_WAIT_INPUT;
  }
  sender->wait = RD_WAIT_OUTPUT;
  return true;
}

// Returns the next bytes to send: less than a chunk only while the wire is idle, so that chunks grow while it is busy.
static size_t next_chunk(struct sender *sender, const unsigned char **bytes) {
  sender->filled_seen = rd_ring_filled(sender->input.ring);
  uint64_t unsent = sender->filled_seen - sender->sent;
  bool is_part = unsent < sender->chunk_bytes;
  if (unsent == 0) {
    rd_limit_idle(&sender->limit);
    return 0;
  }
  if (is_part && !rd_connection_drained(sender->endpoint.connection)) {
    sender->wait = RD_WAIT_WIRE;
    return 0;
  }
  size_t wanted = is_part ? (size_t)unsent : sender->chunk_bytes;
  size_t allowed = rd_limit_allow(&sender->limit, wanted, rd_now_ns());
  if (allowed == 0) sender->wait = RD_WAIT_LIMIT;
  return allowed == 0 ? 0 : rd_ring_peek(sender->input.ring, sender->sent, allowed, bytes);
}

// Sends END only after the end of the input, and after the agent's `commit`.
static bool send_end(struct sender *sender, struct rd_error *error) {
  enum rd_reader_state state = rd_input_state(&sender->input, error);
  if (state == RD_READER_FAILED) return false;
  bool is_sent = sender->endpoint.phase == RD_PHASE_END;
  if (is_sent) sender->wait = RD_WAIT_OUTPUT;
  // In this order: once the state is RD_READER_AT_END, the ring contains everything.
  sender->end_seen = state == RD_READER_AT_END;
  bool all_sent = sender->end_seen && sender->sent == rd_ring_filled(sender->input.ring);
  if (!all_sent || !sender->input.committed || is_sent) return true;
  struct rd_end end;
  unsigned char payload[RD_END_MAX_BYTES];
  if (!rd_input_end(&sender->input, &end, error)) return false;
  size_t bytes = rd_end_encode(&end, payload);
  enum rd_outcome sent =
      rd_connection_send(sender->endpoint.connection, RD_FRAME_END, sender->sent, payload, bytes, error);
  if (sent == RD_OUTCOME_DONE) sender->endpoint.phase = RD_PHASE_END;
  if (sent == RD_OUTCOME_AGAIN) sender->wait = RD_WAIT_WIRE;
  return sent != RD_OUTCOME_FAILED;
}

static int64_t wait_for(void *context, struct pollfd polls[RD_POLLS_MAX], enum rd_wait *wait) {
  struct sender *sender = context;
  bool may_transmit = sender->endpoint.phase != RD_PHASE_RESUME;
  *wait = sender->wait = what_for(sender, may_transmit);
  if (sender->wait == RD_WAIT_LIMIT) return rd_limit_wait_ns(&sender->limit, rd_now_ns());
  bool has_begun = sender->input.ring != NULL, is_relay = sender->input.relay != NULL;
  if (has_begun ? !may_transmit || sender->end_seen || !rd_credit_available(&sender->credit) : !is_relay) return -1;
  polls[RD_POLL_DATA] = (struct pollfd){.fd = rd_input_poll_fd(&sender->input), .events = POLLIN};
  return rd_input_expect_news(&sender->input, sender->filled_seen) ? -1 : 0;
}

// While the threads have frames to work on, the loop does not wait for the wire or the output.
static enum rd_wait what_for(const struct sender *sender, bool may_transmit) {
  if (!may_transmit) return RD_WAIT_WIRE;
  bool is_behind = sender->wait == RD_WAIT_WIRE || sender->wait == RD_WAIT_OUTPUT;
  return is_behind && rd_connection_is_working(sender->endpoint.connection) ? RD_WAIT_WORKER : sender->wait;
}

static void woken(void *context, const struct pollfd polls[RD_POLLS_MAX]) {
  struct sender *sender = context;
  if (polls[RD_POLL_DATA].revents != 0) rd_input_woken(&sender->input);
}

static enum rd_behind behind_of(enum rd_code code) {
  if (code == RD_CODE_OK) return RD_BEHIND_DONE;
  return code == RD_CODE_CLOSED ? RD_BEHIND_CLOSED : RD_BEHIND_OPEN;
}
