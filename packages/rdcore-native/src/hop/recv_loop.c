// SPDX-License-Identifier: Apache-2.0
#include "hop/recv_loop.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "conn/credit.h"
#include "data/writer.h"
#include "hop/loop.h"
#include "hop/reader_process.h"
#include "sandbox/sandbox.h"

#include <fcntl.h>

#define BYE_MS 5000
#define KILL_MS 10000
#define HELD_MS 1000

struct receiver {
  struct rd_endpoint endpoint;
  struct rd_reader_process reader;
  bool alone;               // nobody is left to give commands
  struct rd_sink *sink;     // NULL: not told yet
  int output_fd;            // -1: the sink is a file
  int watch_fd;             // -1: a reader that goes away does not show
  bool held;                // before the first byte it is asked whether that may be written
  int64_t asked_at_ms;      // 0: not yet
  bool writing;             // the writer has the sink
  struct rd_writer *writer; // from here on: once there is a connection
  struct rd_credit credit;
  uint64_t received; // stream offsets
  uint64_t consumed;
  bool end_received;
  uint32_t producer_status;
  bool unwanted; // the consumer closed while there was no connection to say so

  bool resume_owed;              // it is not the hop's first one, as far as somebody knows
  bool end_here;                 // END came by it
  int64_t done_at_ms;            // 0: DONE was not sent by it yet
  struct rd_connection *retired; // the one before, disconnected, while the first frame with the writer is its

  bool delivered; // and the control was told
};

static bool handle_command(void *context, const struct rd_command *command, struct rd_error *error);
static bool take_sink(struct receiver *receiver, struct rd_sink *sink, const struct rd_command *command);
static bool attach(void *context, struct rd_error *error);
static void detach(void *context, struct rd_connection *connection);
static bool prepare(void *context, struct rd_error *error);
static bool begin_writing(struct receiver *receiver, struct rd_error *error);
static bool is_held(struct receiver *receiver);
static bool follow_writer(struct receiver *receiver, struct rd_error *error);
static bool take_frame(void *context, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool take_data(struct receiver *receiver, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool take_end(struct receiver *receiver, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool transmit(void *context, struct rd_error *error);
static bool send_resume(struct receiver *receiver, struct rd_error *error);
static void collect(struct receiver *receiver, struct rd_connection *connection);
static bool acknowledge(struct receiver *receiver, struct rd_error *error);
static bool send_done(struct receiver *receiver, struct rd_error *error);
static void deliver(struct receiver *receiver);
static void close_output(struct receiver *receiver);
static void show_held(struct receiver *receiver);
static void wait_for_show(struct receiver *receiver);
static int64_t wait_for(void *context, struct pollfd polls[RD_POLLS_MOST], enum rd_wait *wait);
static int timeout_ms(struct receiver *receiver);
static enum rd_wait what_for(struct receiver *receiver);
static void woken(void *context, const struct pollfd polls[RD_POLLS_MOST]);
static void wait_for_release(struct receiver *receiver);
static bool stop_writing(struct receiver *receiver);
static void clear(struct receiver *receiver);

static const struct rd_loop_ops ops = {.handle_command = handle_command,
                                       .attach = attach,
                                       .detach = detach,
                                       .prepare = prepare,
                                       .take_frame = take_frame,
                                       .transmit = transmit,
                                       .wait_for = wait_for,
                                       .woken = woken};

enum rd_code rd_recv_loop(struct rd_control *control) {
  struct receiver receiver = {.reader = RD_NO_READER_PROCESS, .output_fd = -1, .watch_fd = -1};
  struct rd_error end;
  rd_endpoint_init(&receiver.endpoint, RD_ROLE_RECEIVER, control, &ops, &receiver);
  do {
    rd_loop_run(&receiver.endpoint, &end);
    show_held(&receiver);
    // Whoever is lost had nothing more to give.
    if (receiver.unwanted && rd_code_is_loss(end.code))
      rd_error_set(&end, RD_CODE_CLOSED, "the consumer wanted no more");
    // An abort that came too late is nobody's business, and whoever waits for our word does not wait long.
  } while (!receiver.delivered && !rd_endpoint_shutdown(&receiver.endpoint, &end));
  // What was written whole is delivered, whatever came after: a lost connection, or an abort that was too late.
  if (stop_writing(&receiver)) {
    end = (struct rd_error){.code = RD_CODE_OK};
    deliver(&receiver);
  }
  clear(&receiver);
  rd_endpoint_finish(&receiver.endpoint, &end);
  if (end.code != RD_CODE_OK && end.code != RD_CODE_CLOSED && !receiver.alone) wait_for_release(&receiver);
  rd_reader_process_forget(&receiver.reader);
  return end.code;
}

static bool handle_command(void *context, const struct rd_command *command, struct rd_error *error) {
  struct receiver *receiver = context;
  switch (command->type) {
  case RD_COMMAND_FILE:
    return take_sink(receiver, rd_sink_open(command->path, command->append, error), command);
  case RD_COMMAND_READY:
    if (!receiver->writing) receiver->held = command->asks; // else nothing waits for the answer
    return take_sink(receiver, rd_sink_from_fd(command->fd, error), command);
  case RD_COMMAND_SHOW:
    receiver->held = false;
    return true;
  case RD_COMMAND_READER:
    rd_reader_process_forget(&receiver->reader);
    receiver->reader = rd_reader_process_of(command->pid);
    return true;
  case RD_COMMAND_LOST:
    receiver->alone = true;
    receiver->held = false;
    // Before anything else, and before its input can end. Once it ended well there is nothing to hide from it.
    if (!receiver->delivered) rd_reader_process_kill(&receiver->reader, KILL_MS);
    return rd_endpoint_handle_command(&receiver->endpoint, command, error);
  default:
    return rd_endpoint_handle_command(&receiver->endpoint, command, error);
  }
}

static bool take_sink(struct receiver *receiver, struct rd_sink *sink, const struct rd_command *command) {
  if (sink == NULL) return false;
  if (receiver->writing) { // too late: the first one is being written to
    rd_sink_destroy(sink);
    return true;
  }
  rd_sink_destroy(receiver->sink);
  receiver->sink = sink;
  bool is_file = command->type == RD_COMMAND_FILE;
  receiver->output_fd = is_file ? -1 : command->fd;
  receiver->watch_fd = rd_sink_watch_fd(sink);
  rd_sandbox_close(is_file ? command->path : NULL, rd_sink_directory_fd(sink));
  struct rd_event event = {.type = RD_EVENT_READY};
  receiver->endpoint.control->ops->emit(receiver->endpoint.control, &event);
  return true;
}

static bool attach(void *context, struct rd_error *error) {
  struct receiver *receiver = context;
  const struct rd_connection *connection = receiver->endpoint.connection;
  const struct rd_hello *mine = &rd_connection_agreement(connection)->mine;
  receiver->resume_owed = rd_connection_epoch(connection) > 1;
  rd_credit_init(&receiver->credit, mine->slots, mine->small_slots);
  if (receiver->writer == NULL)
    receiver->writer =
        rd_writer_create(mine->slots + RD_SMALL_SLOTS, receiver->endpoint.protection == RD_PROTECTION_NONE, error);
  return receiver->writer != NULL;
}

// What is not begun to be written will come again. What is being written stays where it is: in the memory of the
// connection there was, or of one that broke before.
static void detach(void *context, struct rd_connection *connection) {
  struct receiver *receiver = context;
  bool forgot_end = false;
  size_t busy_bytes = receiver->writer != NULL ? rd_writer_forget(receiver->writer, &forgot_end) : 0;
  if (forgot_end) receiver->end_received = false;
  receiver->end_here = false;
  receiver->done_at_ms = 0;
  if (receiver->writer != NULL) collect(receiver, connection);
  bool is_busy = receiver->writer != NULL && rd_writer_pending(receiver->writer) > 0;
  receiver->received = receiver->consumed + (is_busy ? busy_bytes : 0);
  if (is_busy && receiver->retired == NULL) {
    rd_connection_disconnect(connection);
    receiver->retired = connection;
  } else {
    rd_connection_destroy(connection);
  }
}

// With a connection the writer is followed after it was listened to: of one that is broken nobody hears that the
// consumer is gone.
static bool prepare(void *context, struct rd_error *error) {
  struct receiver *receiver = context;
  return begin_writing(receiver, error) && (receiver->endpoint.connection != NULL || follow_writer(receiver, error));
}

// Data that arrives before there is a sink, or before it may be written, waits with the writer.
static bool begin_writing(struct receiver *receiver, struct rd_error *error) {
  if (receiver->writing || receiver->writer == NULL || receiver->sink == NULL || is_held(receiver)) return true;
  receiver->writing = true;
  return rd_writer_begin(receiver->writer, receiver->sink, error);
}

// Where the output goes stand rows of rdpipe: before its first byte they must go. Nothing waits for that for long.
static bool is_held(struct receiver *receiver) {
  if (!receiver->held) return false;
  int64_t now_ms = rd_now_ms();
  if (receiver->received > 0 && receiver->asked_at_ms == 0) {
    receiver->asked_at_ms = now_ms;
    struct rd_event event = {.type = RD_EVENT_OUTPUT};
    receiver->endpoint.control->ops->emit(receiver->endpoint.control, &event);
  }
  receiver->held = receiver->asked_at_ms > 0 ? now_ms - receiver->asked_at_ms < HELD_MS : !receiver->end_received;
  return receiver->held;
}

// Whether there is a connection or not.
static bool follow_writer(struct receiver *receiver, struct rd_error *error) {
  if (receiver->writer == NULL) return true;
  // In this command: when it has committed, all frames are written.
  enum rd_writer_state state = rd_writer_state(receiver->writer, error);
  collect(receiver, receiver->endpoint.connection);
  if (state == RD_WRITER_COMMITTED) deliver(receiver);
  if (state == RD_WRITER_FAILED && error->code == RD_CODE_CLOSED) receiver->unwanted = true;
  if (state == RD_WRITER_FAILED && error->code != RD_CODE_CLOSED) return false;
  // What is delivered was wanted.
  if (!receiver->unwanted || receiver->delivered || receiver->endpoint.connection == NULL) return true;
  rd_error_set(error, RD_CODE_CLOSED, "the consumer wanted no more");
  return false;
}

static bool take_frame(void *context, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  struct receiver *receiver = context;
  switch (rx_frame->header.type) {
  case RD_FRAME_DATA:
    return take_data(receiver, rx_frame, error);
  case RD_FRAME_END:
    return take_end(receiver, rx_frame, error);
  case RD_FRAME_BYE:
    receiver->endpoint.over = receiver->done_at_ms > 0;
    return receiver->endpoint.over || rd_endpoint_out_of_place(rx_frame, error);
  default:
    return rd_endpoint_out_of_place(rx_frame, error);
  }
}

static bool take_data(struct receiver *receiver, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  bool fits = rx_frame->bytes <= rd_connection_agreement(receiver->endpoint.connection)->mine.slot_bytes;
  if (!fits || receiver->resume_owed || receiver->end_received || rx_frame->header.offset != receiver->received)
    return rd_endpoint_out_of_place(rx_frame, error);
  if (!rd_credit_arrive(&receiver->credit, rx_frame->bytes, error)) return false;
  receiver->received += rx_frame->bytes;
  receiver->endpoint.moved_bytes = receiver->received;
  if (!rd_writer_put(receiver->writer, rx_frame, error) || !begin_writing(receiver, error)) return false;
  // What is written at once makes room at once: its slot, which the cache still holds, is the next one to be filled.
  collect(receiver, receiver->endpoint.connection);
  return acknowledge(receiver, error) && rd_connection_flush(receiver->endpoint.connection, error);
}

static bool take_end(struct receiver *receiver, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  struct rd_end end;
  if (receiver->end_here || receiver->resume_owed || rx_frame->header.offset != receiver->received)
    return rd_endpoint_out_of_place(rx_frame, error);
  if (!rd_end_decode(rx_frame->payload, rx_frame->bytes, &end, error)) return false;
  receiver->end_here = true;
  if (receiver->end_received) return true; // by the connection before
  receiver->end_received = true;
  receiver->producer_status = end.producer_status;
  rd_writer_finish(receiver->writer, &end);
  return begin_writing(receiver, error);
}

static bool transmit(void *context, struct rd_error *error) {
  struct receiver *receiver = context;
  struct rd_connection *connection = receiver->endpoint.connection;
  if (!follow_writer(receiver, error) || !send_resume(receiver, error)) return false;
  bool good = receiver->delivered ? send_done(receiver, error) : acknowledge(receiver, error);
  if (!good || !rd_connection_flush(connection, error)) return false;
  if (receiver->done_at_ms > 0 && rd_now_ms() - receiver->done_at_ms >= BYE_MS) receiver->endpoint.over = true;
  return receiver->endpoint.over || rd_connection_tick(connection, error);
}

static bool send_resume(struct receiver *receiver, struct rd_error *error) {
  if (!receiver->resume_owed) return true;
  int sent = rd_connection_send(receiver->endpoint.connection, RD_FRAME_RESUME, receiver->received, NULL, 0, error);
  if (sent <= 0) return sent == 0;
  receiver->resume_owed = false;
  rd_endpoint_emit_resumed(&receiver->endpoint, receiver->received);
  return true;
}

// Gives the slots of what is written back to the connection by which it came.
static void collect(struct receiver *receiver, struct rd_connection *connection) {
  struct rd_rx_frame rx_frame;
  while (rd_writer_take_back(receiver->writer, &rx_frame)) {
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

static bool acknowledge(struct receiver *receiver, struct rd_error *error) {
  if (receiver->resume_owed || !rd_credit_due(&receiver->credit, rd_writer_pending(receiver->writer) == 0, rd_now_ms()))
    return true;
  unsigned char payload[RD_ACK_BYTES];
  rd_ack_encode(receiver->credit.frames, payload);
  int sent = rd_connection_send(receiver->endpoint.connection, RD_FRAME_ACK, receiver->consumed, payload,
                                sizeof payload, error);
  if (sent > 0) rd_credit_acknowledge(&receiver->credit);
  return sent >= 0;
}

static bool send_done(struct receiver *receiver, struct rd_error *error) {
  if (receiver->done_at_ms > 0 || !receiver->end_here) return true;
  int sent = rd_connection_send(receiver->endpoint.connection, RD_FRAME_DONE, receiver->consumed, NULL, 0, error);
  if (sent <= 0) return sent == 0;
  receiver->done_at_ms = rd_now_ms();
  return true;
}

// The reader sees the end of the stream. Once.
static void deliver(struct receiver *receiver) {
  if (receiver->delivered) return;
  receiver->delivered = true;
  close_output(receiver);
  struct rd_event event = {.type = RD_EVENT_END, .bytes = receiver->consumed, .status = receiver->producer_status};
  receiver->endpoint.control->ops->emit(receiver->endpoint.control, &event);
}

// The descriptor's number is not left for others to take.
static void close_output(struct receiver *receiver) {
  if (receiver->output_fd < 0) return;
  RD_AUTO_CLOSE int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null_fd < 0 || dup3(null_fd, receiver->output_fd, O_CLOEXEC) < 0) close(receiver->output_fd);
}

// A bad end does not take from the screen what came before it, only because that was held for a moment.
static void show_held(struct receiver *receiver) {
  struct rd_error ignored;
  if (receiver->asked_at_ms == 0 || receiver->consumed > 0) return;
  if (receiver->held) wait_for_show(receiver);
  receiver->held = false;
  if (!begin_writing(receiver, &ignored)) return;
  int64_t until_ms = rd_now_ms() + HELD_MS;
  while (rd_writer_pending(receiver->writer) > 0 && rd_writer_state(receiver->writer, &ignored) == RD_WRITER_WRITING &&
         rd_now_ms() < until_ms) {
    struct pollfd news = rd_writer_poll(receiver->writer);
    poll(&news, 1, (int)(until_ms - rd_now_ms()));
    rd_writer_woken(receiver->writer);
  }
}

static void wait_for_show(struct receiver *receiver) {
  struct rd_control *control = receiver->endpoint.control;
  struct rd_command command;
  for (;;) {
    while (control->ops->next(control, &command)) {
      if (command.type == RD_COMMAND_LOST) receiver->alone = true;
      if (command.type == RD_COMMAND_LOST || command.type == RD_COMMAND_SHOW) return;
    }
    int64_t left_ms = receiver->asked_at_ms + HELD_MS - rd_now_ms();
    struct pollfd commands = control->ops->poll(control);
    if (left_ms <= 0 || poll(&commands, 1, (int)left_ms) == 0) return;
    control->due = true;
  }
}

static int64_t wait_for(void *context, struct pollfd polls[RD_POLLS_MOST], enum rd_wait *wait) {
  struct receiver *receiver = context;
  if (receiver->writer != NULL) polls[RD_POLL_DATA] = rd_writer_poll(receiver->writer);
  // After END the writer itself finds out whether all of it was wanted.
  if (!receiver->end_received && !receiver->unwanted)
    polls[RD_POLL_CONSUMER] = (struct pollfd){.fd = receiver->watch_fd};
  *wait = what_for(receiver);
  return rd_ns_of_ms(timeout_ms(receiver));
}

// For BYE, or until an ACK that may wait is due; -1: no limit.
static int timeout_ms(struct receiver *receiver) {
  if (receiver->done_at_ms > 0) return BYE_MS;
  if (receiver->held && receiver->asked_at_ms > 0) {
    int64_t left_ms = receiver->asked_at_ms + HELD_MS - rd_now_ms();
    return left_ms > 0 ? (int)left_ms : 0;
  }
  if (receiver->writer == NULL || rd_writer_pending(receiver->writer) > 0) return -1;
  int left_ms = rd_credit_timeout_ms(&receiver->credit, rd_now_ms());
  return left_ms > 0 ? left_ms : -1; // one that is due was not accepted yet: the wire will tell
}

static enum rd_wait what_for(struct receiver *receiver) {
  if (receiver->writer == NULL || receiver->delivered) return RD_WAIT_NONE;
  unsigned pending = rd_writer_pending(receiver->writer);
  if (receiver->end_received || pending * 2 >= receiver->credit.slots) return RD_WAIT_OUTPUT;
  if (pending > 0) return RD_WAIT_NONE;
  const struct rd_connection *connection = receiver->endpoint.connection;
  return connection != NULL && rd_connection_is_working(connection) ? RD_WAIT_WORKER : RD_WAIT_WIRE;
}

static void woken(void *context, const struct pollfd polls[RD_POLLS_MOST]) {
  struct receiver *receiver = context;
  if (polls[RD_POLL_DATA].revents != 0) rd_writer_woken(receiver->writer);
  if ((polls[RD_POLL_CONSUMER].revents & (POLLERR | POLLHUP)) != 0) receiver->unwanted = true;
}

// Whoever reads the output must be dead before it ends.
static void wait_for_release(struct receiver *receiver) {
  struct rd_control *control = receiver->endpoint.control;
  struct rd_command command;
  for (;;) {
    while (control->ops->next(control, &command)) {
      if (command.type == RD_COMMAND_READER) receiver->reader = rd_reader_process_of(command.pid);
      if (command.type == RD_COMMAND_LOST) rd_reader_process_kill(&receiver->reader, KILL_MS);
      if (command.type == RD_COMMAND_LOST || command.type == RD_COMMAND_RELEASE) return;
    }
    struct pollfd commands = control->ops->poll(control);
    poll(&commands, 1, -1);
    control->due = true;
  }
}

// Was everything written, and the sink committed?
static bool stop_writing(struct receiver *receiver) {
  struct rd_error ignored;
  if (receiver->writer == NULL || !rd_writer_stop(receiver->writer)) return false;
  collect(receiver, receiver->endpoint.connection);
  return rd_writer_state(receiver->writer, &ignored) == RD_WRITER_COMMITTED;
}

static void clear(struct receiver *receiver) {
  // A thread that hangs in the system keeps what it uses: the sink, and frames in the connection's memory.
  if (receiver->writer != NULL && !rd_writer_stop(receiver->writer)) return;
  rd_writer_destroy(receiver->writer);
  rd_sink_destroy(receiver->sink);
  rd_connection_destroy(receiver->retired);
  rd_endpoint_clear(&receiver->endpoint);
}
