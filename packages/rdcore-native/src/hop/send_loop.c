// SPDX-License-Identifier: Apache-2.0
#include "hop/send_loop.h"

#include "base/io.h"
#include "conn/credit.h"
#include "data/limit.h"
#include "data/reader.h"
#include "hop/endpoint.h"
#include "sandbox/sandbox.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct sender {
  struct rd_endpoint endpoint;
  struct rd_source *source; // NULL: not told yet
  struct rd_ring *ring;     // from here on: once there is a connection and a source
  struct rd_reader *reader;
  struct rd_credit credit;
  struct rd_limit limit;
  size_t chunk_bytes; // the largest DATA payload
  uint64_t sent;      // stream offset
  uint64_t acked;     // stream offset: handed to the output over there
  bool committed;     // the producer ended well
  uint32_t producer_status;
  bool end_sent;
  bool done;
  uint32_t epoch; // of the connection that was begun to be used; 0: none
  bool resumed;   // the receiver said from where on, or it is the hop's first one
  // What the last pass saw, and stopped at: news are what came since.
  uint64_t filled_seen;
  bool end_seen;
  enum rd_wait wait;
};

static bool run(struct sender *sender, struct rd_error *error);
static bool handle_commands(struct sender *sender, struct rd_error *error);
static bool handle_command(struct sender *sender, const struct rd_command *command, struct rd_error *error);
static bool take_source(struct sender *sender, struct rd_source *source, const char *path);
static void on_connected(struct sender *sender);
static bool begin(struct sender *sender, struct rd_error *error);
static bool register_ring(struct sender *sender, struct rd_error *error);
static void detach(void *context, struct rd_connection *connection);
static bool pump(struct sender *sender, struct rd_error *error);
static bool transmit(struct sender *sender, struct rd_error *error);
static bool receive(struct sender *sender, struct rd_error *error);
static bool take_frame(struct sender *sender, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool take_ack(struct sender *sender, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool take_resume(struct sender *sender, const struct rd_rx_frame *rx_frame, struct rd_error *error);
static bool send_data(struct sender *sender, struct rd_error *error);
static size_t next_chunk(struct sender *sender, const unsigned char **bytes);
static bool send_end(struct sender *sender, struct rd_error *error);
static void wait(struct sender *sender);
static enum rd_wait what_for(const struct sender *sender, bool may_transmit);
static void clear(struct sender *sender);

enum rd_code rd_send_loop(struct rd_control *control) {
  struct sender sender = {.wait = RD_WAIT_NONE};
  struct rd_error end = {.code = RD_CODE_OK};
  rd_endpoint_init(&sender.endpoint, RD_ROLE_SENDER, control, detach, &sender);
  if (run(&sender, &end)) end = (struct rd_error){.code = RD_CODE_OK};
  (void)rd_endpoint_shutdown(&sender.endpoint, &end);
  clear(&sender);
  rd_endpoint_finish(&sender.endpoint, &end);
  return end.code;
}

static bool run(struct sender *sender, struct rd_error *error) {
  struct rd_endpoint *endpoint = &sender->endpoint;
  for (;;) {
    if (!handle_commands(sender, error) || !rd_endpoint_connect(endpoint, error) || !begin(sender, error)) return false;
    if (endpoint->connection != NULL && !pump(sender, error) && !rd_endpoint_reconnect(endpoint, error)) return false;
    if (sender->done) return true;
    rd_endpoint_emit_counters(endpoint, false);
    wait(sender);
  }
}

static bool handle_commands(struct sender *sender, struct rd_error *error) {
  struct rd_control *control = sender->endpoint.control;
  struct rd_command command;
  while (control->ops->next(control, &command)) {
    bool handled = handle_command(sender, &command, error);
    explicit_bzero(command.settings.key, sizeof command.settings.key);
    if (!handled) return false;
  }
  return true;
}

static bool handle_command(struct sender *sender, const struct rd_command *command, struct rd_error *error) {
  switch (command->type) {
  case RD_COMMAND_FILE:
    return take_source(sender, rd_source_open(command->path, error), command->path);
  case RD_COMMAND_READY:
    return take_source(sender, rd_source_from_fd(command->fd, error), NULL);
  case RD_COMMAND_COMMIT:
    sender->committed = true;
    sender->producer_status = command->status;
    return true;
  case RD_COMMAND_READER:
  case RD_COMMAND_SHOW:
  case RD_COMMAND_RELEASE:
    return true;
  default:
    return rd_endpoint_handle_command(&sender->endpoint, command, error);
  }
}

static bool take_source(struct sender *sender, struct rd_source *source, const char *path) {
  if (source == NULL) return false;
  rd_source_destroy(sender->source);
  sender->source = source;
  rd_sandbox_close(path, -1);
  struct rd_control *control = sender->endpoint.control;
  struct rd_event ready = {.type = RD_EVENT_READY};
  control->ops->emit(control, &ready);
  int64_t size_bytes = rd_source_size(source);
  struct rd_event size = {.type = RD_EVENT_SIZE, .bytes = (uint64_t)size_bytes};
  if (size_bytes >= 0) control->ops->emit(control, &size);
  return true;
}

// Starts to read once there is a source, and a peer to read it for.
static bool begin(struct sender *sender, struct rd_error *error) {
  struct rd_connection *connection = sender->endpoint.connection;
  if (connection == NULL) return true;
  bool is_new = sender->epoch != rd_connection_epoch(connection);
  if (is_new) on_connected(sender);
  if (is_new && !register_ring(sender, error)) return false;
  if (sender->reader != NULL || sender->source == NULL) return true;
  sender->ring = rd_ring_create(sender->endpoint.ring_bytes, error);
  if (sender->ring == NULL || !register_ring(sender, error)) return false;
  rd_limit_init(&sender->limit, sender->endpoint.settings.limit_bytes_per_s, rd_now_ns());
  sender->reader =
      rd_reader_create(sender->source, sender->ring, sender->endpoint.protection == RD_PROTECTION_NONE, error);
  return sender->reader != NULL;
}

// A new connection.
static void on_connected(struct sender *sender) {
  const struct rd_connection *connection = sender->endpoint.connection;
  sender->epoch = rd_connection_epoch(connection);
  sender->resumed = sender->epoch == 1;
  const struct rd_hello *peer = &rd_connection_agreement(connection)->peer;
  rd_credit_init(&sender->credit, peer->slots, peer->small_slots);
  sender->chunk_bytes = rd_connection_data_most_bytes(connection);
}

static bool register_ring(struct sender *sender, struct rd_error *error) {
  size_t bytes;
  if (sender->ring == NULL) return true;
  const unsigned char *memory = rd_ring_memory(sender->ring, &bytes);
  return rd_connection_register(sender->endpoint.connection, memory, bytes, error);
}

// All that was sent and is not acknowledged is in the ring.
static void detach(void *context, struct rd_connection *connection) {
  (void)context;
  rd_connection_destroy(connection);
}

// When the connection breaks, what the peer said last tells more than that it broke.
static bool pump(struct sender *sender, struct rd_error *error) {
  struct rd_error last;
  if (!receive(sender, error)) return false;
  if (sender->done || transmit(sender, error)) return true;
  if (!rd_code_is_loss(error->code)) return false;
  if (!receive(sender, &last) && !rd_code_is_loss(last.code)) *error = last;
  return sender->done;
}

static bool transmit(struct sender *sender, struct rd_error *error) {
  struct rd_connection *connection = sender->endpoint.connection;
  sender->wait = RD_WAIT_INPUT;
  if (sender->reader != NULL && sender->resumed && !(send_data(sender, error) && send_end(sender, error))) return false;
  return rd_connection_flush(connection, error) && rd_connection_tick(connection, error);
}

static bool receive(struct sender *sender, struct rd_error *error) {
  struct rd_connection *connection = sender->endpoint.connection;
  struct rd_rx_frame rx_frame;
  while (!sender->done) {
    int received = rd_connection_receive(connection, &rx_frame, error);
    if (received <= 0) return received == 0;
    if (!take_frame(sender, &rx_frame, error)) return false;
    rd_connection_give_back(connection, &rx_frame);
  }
  return true;
}

static bool take_frame(struct sender *sender, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  switch (rx_frame->header.type) {
  case RD_FRAME_ACK:
    return take_ack(sender, rx_frame, error);
  case RD_FRAME_RESUME:
    return take_resume(sender, rx_frame, error);
  case RD_FRAME_DONE:
    if (!sender->resumed || !sender->end_sent || rx_frame->header.offset != sender->sent) break;
    sender->done = true;
    return true;
  case RD_FRAME_CLOSED:
    sender->endpoint.peer_ended = true;
    rd_error_set(error, RD_CODE_CLOSED, "the consumer wanted no more");
    return false;
  case RD_FRAME_ABORT:
    return rd_endpoint_take_abort(&sender->endpoint, rx_frame, error);
  default:
    break;
  }
  return rd_endpoint_out_of_place(rx_frame, error);
}

static bool take_ack(struct sender *sender, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  uint64_t offset = rx_frame->header.offset, frames;
  if (sender->reader == NULL || !sender->resumed || offset < sender->acked || offset > sender->sent)
    return rd_endpoint_out_of_place(rx_frame, error);
  if (!rd_ack_decode(rx_frame->payload, rx_frame->bytes, &frames, error) ||
      !rd_credit_take(&sender->credit, frames, error))
    return false;
  sender->acked = sender->endpoint.moved_bytes = offset;
  rd_ring_release(sender->ring, offset);
  return true;
}

// What comes after it was lost with the connection before this one, and so was the ACK of what comes before.
static bool take_resume(struct sender *sender, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  uint64_t offset = rx_frame->header.offset;
  if (sender->resumed || rx_frame->bytes > 0 || offset < sender->acked || offset > sender->sent)
    return rd_endpoint_out_of_place(rx_frame, error);
  sender->resumed = true;
  sender->sent = sender->acked = sender->endpoint.meter.bytes = offset;
  if (sender->ring != NULL) rd_ring_release(sender->ring, offset);
  sender->end_sent = false;
  rd_endpoint_emit_resumed(&sender->endpoint, offset);
  return true;
}

static bool send_data(struct sender *sender, struct rd_error *error) {
  struct rd_connection *connection = sender->endpoint.connection;
  while (rd_credit_available(&sender->credit)) {
    const unsigned char *bytes;
    size_t count = next_chunk(sender, &bytes);
    if (count == 0) return true;
    sender->wait = RD_WAIT_WIRE;
    int sent = rd_connection_send(connection, RD_FRAME_DATA, sender->sent, bytes, count, error);
    if (sent <= 0) return sent == 0;
    rd_credit_spend(&sender->credit, count);
    rd_limit_spend(&sender->limit, count);
    sender->sent += count;
    sender->endpoint.meter.bytes = sender->sent;
    if (!rd_connection_flush(connection, error)) return false;
    sender->wait = RD_WAIT_INPUT;
  }
  sender->wait = RD_WAIT_OUTPUT;
  return true;
}

// What is to be sent now: a part of a chunk only while the wire has nothing else to do, so that it grows when it has.
static size_t next_chunk(struct sender *sender, const unsigned char **bytes) {
  sender->filled_seen = rd_ring_filled(sender->ring);
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
  return allowed == 0 ? 0 : rd_ring_peek(sender->ring, sender->sent, allowed, bytes);
}

// Only after the end of the input and the word that the producer ended well.
static bool send_end(struct sender *sender, struct rd_error *error) {
  enum rd_reader_state state = rd_reader_state(sender->reader, error);
  if (state == RD_READER_FAILED) return false;
  if (sender->end_sent) sender->wait = RD_WAIT_OUTPUT;
  // In this command: what was read before the end is in the ring once the state says so.
  sender->end_seen = state == RD_READER_AT_END;
  bool all_sent = sender->end_seen && sender->sent == rd_ring_filled(sender->ring);
  if (!all_sent || !sender->committed || sender->end_sent) return true;
  struct rd_end end = {.producer_status = sender->producer_status};
  unsigned char payload[RD_END_BYTES];
  rd_reader_digest(sender->reader, end.digest);
  rd_end_encode(&end, payload);
  int sent =
      rd_connection_send(sender->endpoint.connection, RD_FRAME_END, sender->sent, payload, sizeof payload, error);
  sender->end_sent = sent > 0;
  if (sent == 0) sender->wait = RD_WAIT_WIRE;
  return sent >= 0;
}

static void wait(struct sender *sender) {
  struct pollfd news = {.fd = -1, .events = POLLIN};
  int64_t most_ns = -1;
  bool may_transmit = sender->endpoint.connection != NULL && sender->resumed;
  sender->wait = what_for(sender, may_transmit);
  if (sender->wait == RD_WAIT_LIMIT) {
    most_ns = rd_limit_wait_ns(&sender->limit, rd_now_ns());
  } else if (may_transmit && sender->reader != NULL && !sender->end_seen && rd_credit_available(&sender->credit)) {
    news.fd = rd_reader_poll_fd(sender->reader);
    if (!rd_reader_expect_news(sender->reader, sender->filled_seen)) most_ns = 0;
  }
  rd_endpoint_wait(&sender->endpoint, &news, 1, most_ns, sender->wait);
  if (news.revents != 0) rd_reader_woken(sender->reader);
}

// What the threads have, neither the wire nor the output can have.
static enum rd_wait what_for(const struct sender *sender, bool may_transmit) {
  if (!may_transmit) return RD_WAIT_WIRE;
  bool is_behind = sender->wait == RD_WAIT_WIRE || sender->wait == RD_WAIT_OUTPUT;
  return is_behind && rd_connection_is_working(sender->endpoint.connection) ? RD_WAIT_WORKER : sender->wait;
}

static void clear(struct sender *sender) {
  rd_endpoint_clear(&sender->endpoint);
  // A thread that hangs in the system keeps what it uses.
  if (!rd_reader_destroy(sender->reader)) return;
  rd_ring_destroy(sender->ring);
  rd_source_destroy(sender->source);
}
