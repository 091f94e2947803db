// SPDX-License-Identifier: Apache-2.0
#include "forward/table.h"

#include "base/io.h"
#include "base/memory.h"
#include "forward/frame.h"
#include "forward/outbox.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define READ_BYTES (64u << 10)

static void put_table(struct rd_outbox *outbox, const struct rd_specs *local, const struct rd_specs *remote);
static void put_place(struct rd_outbox *outbox, enum rd_forward_frame_type type, size_t index,
                      const struct rd_place *place);
static enum rd_table_end take_answers(struct rd_table_channel *channel, struct rd_specs *remote,
                                      void (*warn)(const char *text), size_t *failed, struct rd_error *error);
static bool take_failure(const struct rd_forward_frame *frame, void (*warn)(const char *text), size_t *failed,
                         struct rd_error *error);
static bool is_hello(const struct rd_forward_frame *frame, struct rd_error *error);
static bool read_place(const struct rd_forward_frame *frame, struct rd_place *place);
static bool add_entry(struct rd_table *table, const struct rd_forward_frame *frame, struct rd_outbox *outbox);
static void listen_at(struct rd_table *table, const struct rd_place *place, struct rd_outbox *outbox);
static enum rd_table_end next(struct rd_table_channel *channel, struct rd_forward_frame *frame, size_t *used,
                              struct rd_error *error);
static enum rd_table_end await(const struct rd_table_channel *channel, short events, int fd);
static enum rd_table_end send_out(struct rd_table_channel *channel, struct rd_outbox *outbox);
static enum rd_table_end no_table(struct rd_error *error);

enum rd_table_end rd_table_offer(struct rd_table_channel *channel, const struct rd_specs *local,
                                 struct rd_specs *remote, void (*warn)(const char *text), size_t *failed,
                                 struct rd_error *error) {
  struct rd_outbox outbox = {0};
  *failed = 0;
  put_table(&outbox, local, remote);
  enum rd_table_end end = send_out(channel, &outbox);
  return end == RD_TABLE_AGREED ? take_answers(channel, remote, warn, failed, error) : end;
}

enum rd_table_end rd_table_accept(struct rd_table_channel *channel, struct rd_table *table, struct rd_error *error) {
  struct rd_outbox outbox = {0};
  struct rd_forward_frame frame, hello = {.type = RD_FORWARD_HELLO, .number = RD_FORWARD_VERSION};
  size_t used;
  *table = (struct rd_table){.targets = rd_memory_new(RD_SPECS_MAX, sizeof *table->targets),
                             .listeners = rd_memory_new(RD_SPECS_MAX, sizeof *table->listeners)};
  enum rd_table_end end = next(channel, &frame, &used, error);
  if (end == RD_TABLE_AGREED && !is_hello(&frame, error)) end = RD_TABLE_FAILED;
  rd_outbox_put(&outbox, &hello);
  while (end == RD_TABLE_AGREED) {
    rd_byte_queue_take(&channel->received, used);
    end = next(channel, &frame, &used, error);
    if (end == RD_TABLE_AGREED && frame.type == RD_FORWARD_START) break;
    if (end == RD_TABLE_AGREED && !add_entry(table, &frame, &outbox)) end = no_table(error);
  }
  if (end == RD_TABLE_AGREED) {
    rd_byte_queue_take(&channel->received, used);
    rd_outbox_put(&outbox, &(struct rd_forward_frame){.type = RD_FORWARD_READY});
    end = send_out(channel, &outbox);
  }
  rd_byte_queue_clear(&outbox.queue);
  return end;
}

void rd_table_clear(struct rd_table *table) {
  for (size_t i = 0; i < table->listener_count; i++) rd_forward_listener_close(&table->listeners[i]);
  free(table->listeners);
  free(table->targets);
  *table = (struct rd_table){0};
}

static void put_table(struct rd_outbox *outbox, const struct rd_specs *local, const struct rd_specs *remote) {
  rd_outbox_put(outbox, &(struct rd_forward_frame){.type = RD_FORWARD_HELLO, .number = RD_FORWARD_VERSION});
  for (size_t i = 0; i < local->count; i++) put_place(outbox, RD_FORWARD_TARGET, i, &local->items[i].target);
  for (size_t i = 0; i < remote->count; i++) put_place(outbox, RD_FORWARD_LISTEN, i, &remote->items[i].listen);
  rd_outbox_put(outbox, &(struct rd_forward_frame){.type = RD_FORWARD_START});
}

static void put_place(struct rd_outbox *outbox, enum rd_forward_frame_type type, size_t index,
                      const struct rd_place *place) {
  struct rd_forward_frame frame = {.type = type,
                                   .index = (uint16_t)index,
                                   .port = place->port,
                                   .text = (const unsigned char *)place->address,
                                   .text_bytes = strlen(place->address)};
  rd_outbox_put(outbox, &frame);
}

static enum rd_table_end take_answers(struct rd_table_channel *channel, struct rd_specs *remote,
                                      void (*warn)(const char *text), size_t *failed, struct rd_error *error) {
  struct rd_forward_frame frame;
  size_t used, answered = 0;
  enum rd_table_end end = next(channel, &frame, &used, error);
  if (end == RD_TABLE_AGREED && !is_hello(&frame, error)) end = RD_TABLE_FAILED;
  while (end == RD_TABLE_AGREED) {
    rd_byte_queue_take(&channel->received, used);
    end = next(channel, &frame, &used, error);
    if (end != RD_TABLE_AGREED) break;
    if (frame.type == RD_FORWARD_READY && answered == remote->count) break;
    bool is_failure = frame.type == RD_FORWARD_FAILED;
    if ((frame.type != RD_FORWARD_BOUND && !is_failure) || frame.index != answered || answered == remote->count)
      return no_table(error);
    if (is_failure && !take_failure(&frame, warn, failed, error)) return RD_TABLE_FAILED;
    remote->items[answered++].listen.port = is_failure ? 0 : frame.port;
  }
  if (end == RD_TABLE_AGREED) rd_byte_queue_take(&channel->received, used);
  return end;
}

// Returns false if the failure ends the forward.
static bool take_failure(const struct rd_forward_frame *frame, void (*warn)(const char *text), size_t *failed,
                         struct rd_error *error) {
  char reason[400];
  rd_forward_frame_text(frame, reason, sizeof reason);
  rd_error_set(error, RD_CODE_CANNOT_CONNECT, "the other host: %s", reason);
  if (warn == NULL) return false;
  warn(error->message);
  *failed += 1;
  return true;
}

static bool is_hello(const struct rd_forward_frame *frame, struct rd_error *error) {
  if (frame->type == RD_FORWARD_HELLO && frame->number == RD_FORWARD_VERSION) return true;
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the other end is not rdforward, or has another version");
  return false;
}

// Refuses a NUL, which would end the address early.
static bool read_place(const struct rd_forward_frame *frame, struct rd_place *place) {
  if (frame->text_bytes >= sizeof place->address || memchr(frame->text, '\0', frame->text_bytes) != NULL) return false;
  *place = (struct rd_place){.port = frame->port};
  if (frame->text_bytes > 0) memcpy(place->address, frame->text, frame->text_bytes);
  return rd_place_is_path(place) ? place->port == 0 : true;
}

// Returns false if the record does not belong to a table.
static bool add_entry(struct rd_table *table, const struct rd_forward_frame *frame, struct rd_outbox *outbox) {
  struct rd_place place;
  bool is_target = frame->type == RD_FORWARD_TARGET;
  size_t count = is_target ? table->target_count : table->listener_count;
  if (!is_target && frame->type != RD_FORWARD_LISTEN) return false;
  if (frame->index != count || count == RD_SPECS_MAX || !read_place(frame, &place)) return false;
  if (is_target)
    table->targets[table->target_count++] = place;
  else
    listen_at(table, &place, outbox);
  return is_target ? place.port != 0 || rd_place_is_path(&place) : true;
}

static void listen_at(struct rd_table *table, const struct rd_place *place, struct rd_outbox *outbox) {
  struct rd_error error;
  struct rd_forward_listener *listener = &table->listeners[table->listener_count];
  struct rd_forward_frame frame = {.index = (uint16_t)table->listener_count++};
  if (rd_forward_listener_open(listener, place, frame.index, &error)) {
    frame.type = RD_FORWARD_BOUND;
    frame.port = listener->port;
  } else {
    frame.type = RD_FORWARD_FAILED;
    frame.text = (const unsigned char *)error.message;
    frame.text_bytes = strlen(error.message);
  }
  rd_outbox_put(outbox, &frame);
}

// AGREED: stores the next record, of *used bytes, which the caller then takes from the queue.
static enum rd_table_end next(struct rd_table_channel *channel, struct rd_forward_frame *frame, size_t *used,
                              struct rd_error *error) {
  for (;;) {
    enum rd_outcome outcome = rd_forward_frame_decode(rd_byte_queue_first(&channel->received),
                                                      rd_byte_queue_count(&channel->received), frame, used, error);
    if (outcome != RD_OUTCOME_AGAIN) return outcome == RD_OUTCOME_DONE ? RD_TABLE_AGREED : RD_TABLE_FAILED;
    enum rd_table_end end = await(channel, POLLIN, channel->in_fd);
    if (end != RD_TABLE_AGREED) return end;
    ssize_t got = rd_read_some(channel->in_fd, rd_byte_queue_reserve(&channel->received, READ_BYTES), READ_BYTES);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return RD_TABLE_LOST;
    if (got > 0) rd_byte_queue_fill(&channel->received, (size_t)got);
  }
}

static enum rd_table_end await(const struct rd_table_channel *channel, short events, int fd) {
  struct pollfd fds[] = {{.fd = fd, .events = events}, {.fd = channel->signal_fd, .events = POLLIN}};
  while (poll(fds, 2, -1) < 0)
    if (errno != EINTR) return RD_TABLE_LOST;
  return fds[1].revents != 0 ? RD_TABLE_SIGNALLED : RD_TABLE_AGREED;
}

static enum rd_table_end send_out(struct rd_table_channel *channel, struct rd_outbox *outbox) {
  enum rd_table_end end = RD_TABLE_AGREED;
  enum rd_outcome outcome;
  while (end == RD_TABLE_AGREED && (outcome = rd_outbox_flush(outbox, channel->out_fd)) != RD_OUTCOME_DONE)
    end = outcome == RD_OUTCOME_FAILED ? RD_TABLE_LOST : await(channel, POLLOUT, channel->out_fd);
  rd_byte_queue_clear(&outbox->queue);
  return end;
}

static enum rd_table_end no_table(struct rd_error *error) {
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the other end sent a record that does not belong in a table");
  return RD_TABLE_FAILED;
}
