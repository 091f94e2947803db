// SPDX-License-Identifier: Apache-2.0
#include "recv_loop.h"

#include "base/io.h"
#include "conn/credit.h"
#include "downstream.h"
#include "hop/loop.h"
#include "output.h"

#define BYE_MS 5000

// The state of the stream, over all connections of the hop. If a connection is lost too early, ENDED -> OPEN: the
// sender will send END again.
enum stream {
  STREAM_OPEN,
  STREAM_ENDED,     // the writer has received END
  STREAM_DELIVERED, // everything is written and committed, and RD_EVENT_END was emitted
};

struct receiver {
  struct rd_endpoint endpoint;
  struct rd_output output;
  struct rd_credit credit;
  uint64_t received, consumed; // stream offsets
  enum stream stream;
  uint32_t producer_status; // valid once ended
  bool consumer_closed;     // the consumer closed its input
  bool told_closed;         // RD_EVENT_CLOSED was emitted
  int64_t done_at_ms;       // in RD_PHASE_DONE
  struct rd_downstream downstream;
  uint64_t acknowledged;         // stream offset of the last ACK
  struct rd_connection *retired; // the previous connection, disconnected, while the writer writes a frame in its memory
};

static bool handle_command(void *context, const struct rd_command *command, struct rd_error *error);
static bool attach(void *context, struct rd_error *error);
static void detach(void *context, struct rd_connection *connection);
static bool prepare(void *context, struct rd_error *error);
static bool begin_writing(struct receiver *receiver, struct rd_error *error);
static bool follow_writer(struct receiver *receiver, struct rd_error *error);
static void tell_closed(struct receiver *receiver);
static bool is_settled(const struct receiver *receiver);
static bool is_wanted(const struct receiver *receiver);
static bool take_frame(void *context, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool take_data(struct receiver *receiver, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool take_end(struct receiver *receiver, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool transmit(void *context, struct rd_error *error);
static bool send_resume(struct receiver *receiver, struct rd_error *error);
static void collect(struct receiver *receiver, struct rd_connection *connection, bool limited);
static bool is_full(const struct receiver *receiver);
static bool acknowledge(struct receiver *receiver, bool is_idle, struct rd_error *error);
static bool send_done(struct receiver *receiver, struct rd_error *error);
static void deliver(struct receiver *receiver);
static int64_t wait_for(void *context, struct pollfd polls[RD_POLLS_MAX], enum rd_wait *wait);
static int timeout_ms(struct receiver *receiver);
static enum rd_wait what_for(struct receiver *receiver);
static void woken(void *context, const struct pollfd polls[RD_POLLS_MAX]);
static bool stop_writing(struct receiver *receiver);

static const struct rd_loop_ops ops = {.handle_command = handle_command,
                                       .attach = attach,
                                       .detach = detach,
                                       .prepare = prepare,
                                       .take_frame = take_frame,
                                       .transmit = transmit,
                                       .wait_for = wait_for,
                                       .woken = woken};

enum rd_code rd_recv_loop(struct rd_control *control) {
  struct receiver receiver = {.stream = STREAM_OPEN};
  struct rd_error end;
  rd_output_init(&receiver.output, control);
  rd_endpoint_init(&receiver.endpoint, RD_ROLE_RECEIVER, control, &ops, &receiver);
  do {
    rd_loop_run(&receiver.endpoint, &end);
    // Bytes that were held for a moment must still reach the screen.
    if (receiver.consumed == 0) rd_output_write_held(&receiver.output);
    // The loss of the peer makes no difference to a consumer that has closed its input.
    if (receiver.consumer_closed && rd_code_is_loss(end.code))
      rd_error_set(&end, RD_CODE_CLOSED, "the consumer closed its input");
    // After delivery an abort is too late to matter, and the sender waits only briefly for DONE.
  } while (receiver.stream != STREAM_DELIVERED && !rd_loop_shutdown(&receiver.endpoint, &end));
  // A completely written stream is delivered, even if the connection was lost later or an abort came too late.
  if (stop_writing(&receiver)) {
    end = (struct rd_error){.code = RD_CODE_OK};
    deliver(&receiver);
  }
  if (rd_output_clear(&receiver.output)) { // otherwise its thread still uses frames in a connection's memory
    rd_connection_destroy(receiver.retired);
    rd_endpoint_clear(&receiver.endpoint);
  }
  rd_downstream_clear(&receiver.downstream);
  rd_loop_finish(&receiver.endpoint, &end);
  if (end.code != RD_CODE_OK && end.code != RD_CODE_CLOSED) rd_output_wait_for_release(&receiver.output);
  rd_process_group_forget(&receiver.output.reader);
  return end.code;
}

static bool handle_command(void *context, const struct rd_command *command, struct rd_error *error) {
  struct receiver *receiver = context;
  if (command->type == RD_COMMAND_RELAY) return rd_downstream_join(&receiver->downstream, command, error);
  return rd_output_handle_command(&receiver->output, command, receiver->stream == STREAM_DELIVERED, error) &&
         rd_endpoint_handle_command(&receiver->endpoint, command, error);
}

static bool attach(void *context, struct rd_error *error) {
  struct receiver *receiver = context;
  const struct rd_agreement *agreement = rd_connection_agreement(receiver->endpoint.connection);
  const struct rd_hello *mine = &agreement->mine;
  const struct rd_settings *settings = &receiver->endpoint.settings;
  bool is_checked = settings->chain || receiver->endpoint.protection == RD_PROTECTION_NONE;
  rd_credit_init(&receiver->credit, mine->slots, mine->small_slots);
  return rd_output_attach(&receiver->output, mine->slots + RD_SMALL_SLOTS, is_checked ? &settings->signing : NULL,
                          error) &&
         rd_downstream_attach(&receiver->downstream, settings, agreement->lanes, error);
}

// The sender will resend the frames that the writer has not begun. The frame that is being written stays in the memory
// of its connection: this one, or one that broke earlier.
static void detach(void *context, struct rd_connection *connection) {
  struct receiver *receiver = context;
  struct rd_writer *writer = receiver->output.writer;
  bool forgot_end;
  size_t busy_bytes = rd_writer_discard_pending(writer, &forgot_end);
  if (forgot_end) receiver->stream = STREAM_OPEN;
  collect(receiver, connection, false);
  bool is_busy = rd_writer_held(writer) > 0; // also a frame that was written just now
  receiver->acknowledged = 0;                // the last ACK may be lost with the connection
  receiver->received = receiver->consumed + (is_busy ? busy_bytes : 0);
  if (is_busy && receiver->retired == NULL) {
    rd_connection_disconnect(connection);
    receiver->retired = connection;
  } else {
    rd_connection_destroy(connection);
  }
}

// With a connection, transmit() follows the writer, after the received frames.
static bool prepare(void *context, struct rd_error *error) {
  struct receiver *receiver = context;
  return begin_writing(receiver, error) && (receiver->endpoint.connection != NULL || follow_writer(receiver, error));
}

static bool begin_writing(struct receiver *receiver, struct rd_error *error) {
  return rd_output_begin(&receiver->output, receiver->received > 0, receiver->stream != STREAM_OPEN, error);
}

// Takes over the writer's progress, with or without a connection.
static bool follow_writer(struct receiver *receiver, struct rd_error *error) {
  if (receiver->output.writer == NULL) return true;
  // In this order: once the writer has committed, all frames are written.
  enum rd_writer_state state = rd_writer_state(receiver->output.writer, error);
  collect(receiver, receiver->endpoint.connection, true);
  if (state == RD_WRITER_COMMITTED) deliver(receiver);
  if (state == RD_WRITER_FAILED && error->code != RD_CODE_CLOSED) return false;
  if (state == RD_WRITER_FAILED) receiver->consumer_closed = true;
  if (receiver->consumer_closed && rd_downstream_is_wanted(&receiver->downstream))
    rd_writer_discard(receiver->output.writer);
  receiver->endpoint.settled = is_settled(receiver);
  if (receiver->endpoint.settled && receiver->endpoint.rejoined && receiver->endpoint.establisher == NULL)
    receiver->endpoint.phase = RD_PHASE_OVER;
  if (is_wanted(receiver)) return true;
  tell_closed(receiver);
  if (receiver->endpoint.connection == NULL) return true;
  rd_error_set(error, RD_CODE_CLOSED, "the consumer closed its input");
  return false;
}

// Reports it immediately: CLOSED may take long, or never reach a sender that gives up this peer meanwhile.
static void tell_closed(struct receiver *receiver) {
  if (receiver->told_closed) return;
  receiver->told_closed = true;
  struct rd_event event = {.type = RD_EVENT_CLOSED};
  receiver->endpoint.control->ops->emit(receiver->endpoint.control, &event);
}

// Returns true if the stream is written here and on every downstream host that wants it.
static bool is_settled(const struct receiver *receiver) {
  return receiver->stream == STREAM_DELIVERED && rd_downstream_is_settled(&receiver->downstream);
}

// After delivery it does not matter whether the consumer has closed its input.
static bool is_wanted(const struct receiver *receiver) {
  return !receiver->consumer_closed || receiver->stream == STREAM_DELIVERED ||
         rd_downstream_is_wanted(&receiver->downstream);
}

static bool take_frame(void *context, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  struct receiver *receiver = context;
  switch (rx_frame->header.type) {
  case RD_FRAME_DATA:
    return take_data(receiver, rx_frame, error);
  case RD_FRAME_END:
    return take_end(receiver, rx_frame, error);
  case RD_FRAME_BYE:
    if (receiver->endpoint.phase != RD_PHASE_DONE) return rd_loop_out_of_place(rx_frame, error);
    receiver->endpoint.phase = RD_PHASE_OVER;
    return true;
  default:
    return rd_loop_out_of_place(rx_frame, error);
  }
}

static bool take_data(struct receiver *receiver, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  bool fits = rx_frame->bytes <= rd_connection_agreement(receiver->endpoint.connection)->mine.slot_bytes;
  bool is_due = receiver->endpoint.phase == RD_PHASE_DATA && receiver->stream == STREAM_OPEN;
  if (!fits || !is_due || rx_frame->header.offset != receiver->received) return rd_loop_out_of_place(rx_frame, error);
  if (!rd_credit_arrive(&receiver->credit, rx_frame->bytes, error)) return false;
  receiver->received += rx_frame->bytes;
  receiver->endpoint.moved_bytes = receiver->received;
  if (!rd_downstream_pass_on(&receiver->downstream, rx_frame, error)) return false;
  if (!rd_writer_put(receiver->output.writer, rx_frame, error) || !begin_writing(receiver, error)) return false;
  // A frame that was written immediately frees its slot immediately: the next frame fills the slot while it is still in
  // the cache.
  collect(receiver, receiver->endpoint.connection, true);
  return acknowledge(receiver, false, error) && rd_connection_flush(receiver->endpoint.connection, error);
}

static bool take_end(struct receiver *receiver, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  struct rd_end end;
  if (receiver->endpoint.phase != RD_PHASE_DATA || rx_frame->header.offset != receiver->received)
    return rd_loop_out_of_place(rx_frame, error);
  if (!rd_end_decode(rx_frame->payload, rx_frame->bytes, &end, error)) return false;
  receiver->endpoint.phase = RD_PHASE_END;
  if (receiver->stream != STREAM_OPEN) return true; // END already came over the previous connection
  receiver->stream = STREAM_ENDED;
  receiver->producer_status = end.producer_status;
  rd_downstream_end(&receiver->downstream, &end);
  rd_writer_finish(receiver->output.writer, &end);
  return begin_writing(receiver, error);
}

static bool transmit(void *context, struct rd_error *error) {
  struct receiver *receiver = context;
  struct rd_connection *connection = receiver->endpoint.connection;
  if (!follow_writer(receiver, error) || !send_resume(receiver, error)) return false;
  bool is_idle = rd_writer_pending(receiver->output.writer) == 0;
  bool good = is_settled(receiver) ? send_done(receiver, error) : acknowledge(receiver, is_idle, error);
  if (!good || !rd_connection_flush(connection, error)) return false;
  if (receiver->endpoint.phase != RD_PHASE_DONE || rd_now_ms() - receiver->done_at_ms < BYE_MS)
    return rd_connection_tick(connection, error);
  receiver->endpoint.phase = RD_PHASE_OVER;
  return true;
}

static bool send_resume(struct receiver *receiver, struct rd_error *error) {
  if (receiver->endpoint.phase != RD_PHASE_RESUME) return true;
  enum rd_outcome sent =
      rd_connection_send(receiver->endpoint.connection, RD_FRAME_RESUME, receiver->received, NULL, 0, error);
  if (sent != RD_OUTCOME_DONE) return sent == RD_OUTCOME_AGAIN;
  receiver->endpoint.phase = RD_PHASE_DATA;
  rd_endpoint_emit_resumed(&receiver->endpoint, receiver->received);
  return true;
}

// Returns the slots of written frames to the connection that they came over; `limited`: only as many as the downstream
// hosts allow.
static void collect(struct receiver *receiver, struct rd_connection *connection, bool limited) {
  struct rd_rx_frame rx_frame;
  while (!(limited && is_full(receiver)) && rd_writer_take_back(receiver->output.writer, &rx_frame)) {
    receiver->consumed += rx_frame.bytes;
    if (receiver->retired != NULL) {
      rd_connection_destroy(receiver->retired);
      receiver->retired = NULL;
      continue;
    }
    rd_credit_consume(&receiver->credit, rx_frame.bytes, rd_now_ms());
    rd_connection_give_back(connection, &rx_frame);
  }
  receiver->endpoint.meter.bytes = receiver->consumed;
}

static bool is_full(const struct receiver *receiver) {
  const struct rd_connection *connection = receiver->endpoint.connection;
  if (connection == NULL || receiver->stream != STREAM_OPEN) return false;
  size_t slot_bytes = rd_connection_agreement(connection)->mine.slot_bytes;
  return rd_downstream_is_full(&receiver->downstream, &receiver->credit, slot_bytes);
}

// `is_idle`: everything that arrived is written, and the loop will wait for more.
static bool acknowledge(struct receiver *receiver, bool is_idle, struct rd_error *error) {
  if (receiver->endpoint.phase == RD_PHASE_RESUME) return true;
  uint64_t reached = rd_downstream_reached(&receiver->downstream, receiver->consumed);
  bool is_news = rd_downstream_is_ack_due(&receiver->downstream, reached, receiver->acknowledged, receiver->received);
  if (!rd_credit_due(&receiver->credit, is_idle, rd_now_ms()) && !is_news) return true;
  unsigned char payload[RD_ACK_BYTES];
  rd_ack_encode(receiver->credit.frames, payload);
  enum rd_outcome sent =
      rd_connection_send(receiver->endpoint.connection, RD_FRAME_ACK, reached, payload, sizeof payload, error);
  if (sent != RD_OUTCOME_DONE) return sent == RD_OUTCOME_AGAIN;
  rd_credit_acknowledge(&receiver->credit);
  receiver->acknowledged = reached;
  return true;
}

static bool send_done(struct receiver *receiver, struct rd_error *error) {
  if (receiver->endpoint.phase != RD_PHASE_END) return true;
  enum rd_outcome sent =
      rd_connection_send(receiver->endpoint.connection, RD_FRAME_DONE, receiver->consumed, NULL, 0, error);
  if (sent != RD_OUTCOME_DONE) return sent == RD_OUTCOME_AGAIN;
  receiver->endpoint.phase = RD_PHASE_DONE;
  receiver->done_at_ms = rd_now_ms();
  return true;
}

// Only once: lets the reader see the end of the stream.
static void deliver(struct receiver *receiver) {
  if (receiver->stream == STREAM_DELIVERED) return;
  receiver->stream = STREAM_DELIVERED;
  rd_output_close(&receiver->output);
  struct rd_event event = {.type = RD_EVENT_END, .bytes = receiver->consumed, .status = receiver->producer_status};
  receiver->endpoint.control->ops->emit(receiver->endpoint.control, &event);
}

static int64_t wait_for(void *context, struct pollfd polls[RD_POLLS_MAX], enum rd_wait *wait) {
  struct receiver *receiver = context;
  if (receiver->output.writer != NULL) polls[RD_POLL_DATA] = rd_writer_poll(receiver->output.writer);
  // After END the writer itself finds out whether the consumer took everything.
  if (receiver->stream == STREAM_OPEN && !receiver->consumer_closed)
    polls[RD_POLL_CONSUMER] = (struct pollfd){.fd = receiver->output.watch_fd};
  *wait = what_for(receiver);
  if (rd_downstream_has_news(&receiver->downstream, &polls[RD_POLL_RELAY])) return 0;
  return rd_ns_of_ms(timeout_ms(receiver));
}

// Returns the time until BYE is late, RD_EVENT_OUTPUT has waited long enough for an answer, or an ACK is due; -1: no
// limit.
static int timeout_ms(struct receiver *receiver) {
  if (receiver->endpoint.phase == RD_PHASE_DONE) return BYE_MS;
  if (receiver->output.state == RD_OUTPUT_ASKED) return rd_output_timeout_ms(&receiver->output);
  if (receiver->output.writer == NULL || rd_writer_pending(receiver->output.writer) > 0) return -1;
  int left_ms = rd_credit_timeout_ms(&receiver->credit, rd_now_ms());
  return left_ms > 0 ? left_ms : -1; // the wire did not accept an ACK that is due, and will wake the loop
}

static enum rd_wait what_for(struct receiver *receiver) {
  struct rd_writer *writer = receiver->output.writer;
  if (writer == NULL || receiver->stream == STREAM_DELIVERED) return RD_WAIT_NONE;
  unsigned pending = rd_writer_pending(writer);
  if (receiver->stream == STREAM_ENDED || pending * 2 >= receiver->credit.slots) return RD_WAIT_OUTPUT;
  if (pending > 0) return RD_WAIT_NONE;
  const struct rd_connection *connection = receiver->endpoint.connection;
  return connection != NULL && rd_connection_is_working(connection) ? RD_WAIT_WORKER : RD_WAIT_WIRE;
}

static void woken(void *context, const struct pollfd polls[RD_POLLS_MAX]) {
  struct receiver *receiver = context;
  if (polls[RD_POLL_DATA].revents != 0) rd_writer_woken(receiver->output.writer);
  if (polls[RD_POLL_RELAY].revents != 0) rd_downstream_woken(&receiver->downstream);
  if ((polls[RD_POLL_CONSUMER].revents & (POLLERR | POLLHUP)) != 0) receiver->consumer_closed = true;
}

// Returns true if everything was written and the sink was committed.
static bool stop_writing(struct receiver *receiver) {
  struct rd_error ignored;
  if (receiver->output.writer == NULL || !rd_writer_stop(receiver->output.writer)) return false;
  collect(receiver, receiver->endpoint.connection, false);
  return rd_writer_state(receiver->output.writer, &ignored) == RD_WRITER_COMMITTED;
}
