// SPDX-License-Identifier: Apache-2.0
#include "forward/stream.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <sys/socket.h>

static bool receive_data(struct rd_stream *stream, struct rd_stream_shared *shared,
                         const struct rd_forward_frame *frame, struct rd_error *error);
static void grant(struct rd_stream *stream, struct rd_stream_shared *shared, size_t taken);
static ssize_t give(struct rd_stream *stream, struct rd_stream_shared *shared, const unsigned char *bytes,
                    size_t count);
static void pass_end_on(struct rd_stream *stream, struct rd_stream_shared *shared);
static void finish(struct rd_stream *stream, struct rd_stream_shared *shared);
static bool out_of_place(const struct rd_forward_frame *frame, struct rd_error *error);

bool rd_stream_can_send(const struct rd_stream *stream) {
  return stream->state == RD_STREAM_OPEN && stream->readable && !stream->sent_end && stream->credit > 0;
}

void rd_stream_send(struct rd_stream *stream, struct rd_stream_shared *shared) {
  size_t most = stream->credit < RD_FORWARD_DATA_MAX ? stream->credit : RD_FORWARD_DATA_MAX;
  ssize_t got = rd_read_some(stream->fd, rd_outbox_data_room(&shared->outbox), most);
  if (got < 0 && errno == EAGAIN) {
    stream->readable = false;
  } else if (got < 0) {
    rd_stream_cut(stream, shared, RD_FORWARD_RESET, NULL);
  } else if (got == 0) {
    stream->sent_end = true;
    rd_outbox_put(&shared->outbox, &(struct rd_forward_frame){.type = RD_FORWARD_END, .stream = stream->id});
    finish(stream, shared);
  } else {
    rd_outbox_put_data(&shared->outbox, stream->id, (size_t)got);
    stream->credit -= (uint32_t)got;
    shared->bytes_sent += (uint64_t)got;
    // Everything was read: an event follows when there is more.
    if ((size_t)got < most && !stream->hung_up) stream->readable = false;
  }
}

bool rd_stream_receive(struct rd_stream *stream, struct rd_stream_shared *shared, const struct rd_forward_frame *frame,
                       struct rd_error *error) {
  if (frame->type == RD_FORWARD_RESET) {
    rd_stream_cut(stream, shared, 0, NULL);
    return true;
  }
  if (stream->state != RD_STREAM_OPEN) return out_of_place(frame, error);
  if (frame->type == RD_FORWARD_DATA) return receive_data(stream, shared, frame, error);
  if (frame->type == RD_FORWARD_CREDIT) {
    if (frame->number == 0 || frame->number > RD_ALLOWANCE_MAX - stream->credit) return out_of_place(frame, error);
    stream->credit += frame->number;
    return true;
  }
  if (frame->type != RD_FORWARD_END || stream->got_end) return out_of_place(frame, error);
  stream->got_end = true;
  pass_end_on(stream, shared);
  return true;
}

void rd_stream_flush(struct rd_stream *stream, struct rd_stream_shared *shared) {
  size_t waiting = rd_byte_queue_count(&stream->backlog);
  if (stream->state != RD_STREAM_OPEN || waiting == 0) return;
  ssize_t given = give(stream, shared, rd_byte_queue_first(&stream->backlog), waiting);
  if (given < 0) return;
  rd_byte_queue_take(&stream->backlog, (size_t)given);
  if ((size_t)given == waiting) rd_byte_queue_clear(&stream->backlog);
  grant(stream, shared, (size_t)given);
  pass_end_on(stream, shared);
}

void rd_stream_begin(struct rd_stream *stream, uint32_t credit) {
  stream->state = RD_STREAM_OPEN;
  stream->credit = credit;
  stream->readable = stream->writable = true;
}

// A close without a linger time resets a TCP connection. Local sockets have no reset.
void rd_stream_cut(struct rd_stream *stream, struct rd_stream_shared *shared, enum rd_forward_frame_type type,
                   const char *reason) {
  const struct linger none = {.l_onoff = 1};
  if (stream->state == RD_STREAM_OVER) return;
  if (stream->fd >= 0) setsockopt(stream->fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  struct rd_forward_frame frame = {.type = type, .stream = stream->id, .text = (const unsigned char *)reason};
  frame.text_bytes = reason != NULL ? strlen(reason) : 0;
  if (type != 0) rd_outbox_put(&shared->outbox, &frame);
  stream->sent_end = stream->shut = true;
  finish(stream, shared);
}

static bool receive_data(struct rd_stream *stream, struct rd_stream_shared *shared,
                         const struct rd_forward_frame *frame, struct rd_error *error) {
  size_t count = frame->text_bytes, given = 0;
  if (stream->got_end) return out_of_place(frame, error);
  if (!rd_allowance_arrived(&stream->allowance, (uint32_t)count)) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the other end sent more of a connection than it may");
    return false;
  }
  shared->bytes_received += count;
  if (stream->writable && rd_byte_queue_count(&stream->backlog) == 0) {
    ssize_t taken = give(stream, shared, frame->text, count);
    if (taken < 0) return true;
    given = (size_t)taken;
  }
  if (given < count) rd_byte_queue_append(&stream->backlog, frame->text + given, count - given);
  grant(stream, shared, given);
  return true;
}

static void grant(struct rd_stream *stream, struct rd_stream_shared *shared, size_t taken) {
  uint32_t more = rd_allowance_taken(&stream->allowance, (uint32_t)taken, rd_now_ms(), &shared->budget);
  if (more == 0 || stream->got_end) return;
  rd_outbox_put(&shared->outbox,
                &(struct rd_forward_frame){.type = RD_FORWARD_CREDIT, .stream = stream->id, .number = more});
}

// Writes to the socket: returns the number of bytes that it accepted; -1: the connection was cut.
static ssize_t give(struct rd_stream *stream, struct rd_stream_shared *shared, const unsigned char *bytes,
                    size_t count) {
  ssize_t given;
  do given = send(stream->fd, bytes, count, MSG_NOSIGNAL);
  while (given < 0 && errno == EINTR);
  if (given < 0 && errno != EAGAIN) {
    rd_stream_cut(stream, shared, RD_FORWARD_RESET, NULL);
    return -1;
  }
  if (given < 0) given = 0;
  stream->writable = (size_t)given == count;
  return given;
}

static void pass_end_on(struct rd_stream *stream, struct rd_stream_shared *shared) {
  if (!stream->got_end || stream->shut || rd_byte_queue_count(&stream->backlog) > 0) return;
  stream->shut = true;
  shutdown(stream->fd, SHUT_WR);
  finish(stream, shared);
}

// Ends the connection when both directions have ended.
static void finish(struct rd_stream *stream, struct rd_stream_shared *shared) {
  if (!stream->sent_end || !stream->shut) return;
  stream->state = RD_STREAM_OVER;
  rd_cleanup_fd(&stream->fd);
  rd_byte_queue_clear(&stream->backlog);
  rd_allowance_end(&stream->allowance, &shared->budget);
}

static bool out_of_place(const struct rd_forward_frame *frame, struct rd_error *error) {
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "the other end sent a record of type %u out of place", frame->type);
  return false;
}
