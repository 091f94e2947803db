// SPDX-License-Identifier: Apache-2.0
#include "forward/mux.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "forward/resolver.h"
#include "forward/streams.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#define EVENTS 256
#define READ_BYTES (256u << 10)
#define ROUNDS 16   // of sending before events are checked again
#define RETRY_MS 20 // for a local socket whose queue is full, and after descriptors were exhausted
#define FAREWELL_MS 2000
#define STREAM_EVENTS (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)

struct mux {
  const struct rd_mux_settings *settings;
  struct rd_stream_shared shared;
  struct rd_streams streams;
  struct rd_byte_queue received;
  struct rd_resolver *resolver;
  uint64_t next_own, next_theirs; // ids of connections: odd at the near end
  int epoll_fd;
  bool readable, writable; // the pipes
  bool hung_up;            // the end of the input follows the data in the pipe
  bool accepts, retries;   // retries: something must be tried again after RETRY_MS
  enum rd_watched input, output, signals, lookups;
};

enum step { STEP_ON, STEP_SIGNALLED, STEP_BYE, STEP_LOST, STEP_FAILED };

static bool begin(struct mux *mux, struct rd_error *error);
static enum step run(struct mux *mux, struct rd_error *error);
static int timeout_of(const struct mux *mux);
static enum step on_event(struct mux *mux, const struct epoll_event *event);
static void on_stream_event(struct mux *mux, struct rd_stream *stream, uint32_t events);
static void accept_all(struct mux *mux, struct rd_forward_listener_socket *socket);
static void offer(struct mux *mux, const struct rd_forward_listener *listener, int fd, const char *peer);
static enum step receive(struct mux *mux, struct rd_error *error);
static enum step on_frame(struct mux *mux, const struct rd_forward_frame *frame, struct rd_error *error);
static bool on_open(struct mux *mux, const struct rd_forward_frame *frame, struct rd_error *error);
static bool on_answer(struct mux *mux, struct rd_stream *stream, const struct rd_forward_frame *frame,
                      struct rd_error *error);
static void on_refused(struct mux *mux, const struct rd_stream *stream, const struct rd_forward_frame *frame);
static void take_lookups(struct mux *mux);
static void dial(struct mux *mux, struct rd_stream *stream, struct rd_error *error);
static void finish_dial(struct mux *mux, struct rd_stream *stream);
static void retry(struct mux *mux);
static void retry_stream(void *context, struct rd_stream *stream);
static enum step send_all(struct mux *mux, struct rd_error *error);
static enum rd_outcome flush(struct mux *mux);
static void end(struct mux *mux, enum step step);
static void cut(void *context, struct rd_stream *stream);

enum rd_mux_end rd_mux_run(const struct rd_mux_settings *settings, struct rd_error *error) {
  static const enum rd_mux_end ends[] = {[STEP_SIGNALLED] = RD_MUX_SIGNALLED,
                                         [STEP_BYE] = RD_MUX_BYE,
                                         [STEP_LOST] = RD_MUX_LOST,
                                         [STEP_FAILED] = RD_MUX_FAILED};
  struct mux *mux = rd_memory_new(1, sizeof *mux);
  *mux = (struct mux){.settings = settings,
                      .received = settings->received,
                      .shared.budget = RD_ALLOWANCE_BUDGET,
                      .next_own = settings->is_near ? 1 : 2,
                      .next_theirs = settings->is_near ? 2 : 1,
                      .epoll_fd = -1,
                      .readable = true,
                      .writable = true,
                      .accepts = true,
                      .input = RD_WATCHED_INPUT,
                      .output = RD_WATCHED_OUTPUT,
                      .signals = RD_WATCHED_SIGNALS,
                      .lookups = RD_WATCHED_RESOLVER};
  enum step step = begin(mux, error) ? run(mux, error) : STEP_FAILED;
  end(mux, step);
  free(mux);
  return ends[step];
}

static bool begin(struct mux *mux, struct rd_error *error) {
  const struct rd_mux_settings *settings = mux->settings;
  mux->resolver = rd_resolver_create(error);
  if (mux->resolver == NULL) return false;
  mux->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  bool is_good = mux->epoll_fd >= 0 && rd_watch(mux->epoll_fd, settings->in_fd, EPOLLIN | EPOLLET, &mux->input) &&
                 rd_watch(mux->epoll_fd, settings->out_fd, EPOLLOUT | EPOLLET, &mux->output) &&
                 rd_watch(mux->epoll_fd, rd_resolver_fd(mux->resolver), EPOLLIN, &mux->lookups) &&
                 (settings->signal_fd < 0 || rd_watch(mux->epoll_fd, settings->signal_fd, EPOLLIN, &mux->signals));
  for (size_t i = 0; is_good && i < settings->listener_count; i++) {
    struct rd_forward_listener *listener = &settings->listeners[i];
    for (size_t j = 0; is_good && j < listener->socket_count; j++) {
      listener->sockets[j].listener = listener;
      is_good = rd_watch(mux->epoll_fd, listener->sockets[j].fd, EPOLLIN, &listener->sockets[j].kind);
    }
  }
  if (!is_good) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot watch the connections");
  return is_good;
}

static enum step run(struct mux *mux, struct rd_error *error) {
  struct epoll_event events[EVENTS];
  for (;;) {
    enum step step = mux->readable ? receive(mux, error) : STEP_ON;
    if (step == STEP_ON) step = send_all(mux, error);
    if (step != STEP_ON) return step;
    rd_streams_bury(&mux->streams);
    int count = epoll_wait(mux->epoll_fd, events, EVENTS, timeout_of(mux));
    if (mux->retries) retry(mux);
    for (int i = 0; i < count && step == STEP_ON; i++) step = on_event(mux, &events[i]);
    if (step != STEP_ON) return step;
  }
}

static int timeout_of(const struct mux *mux) {
  bool can_send = mux->writable && mux->streams.first_ready != NULL && rd_outbox_has_room(&mux->shared.outbox);
  if (mux->readable || can_send) return 0;
  return mux->retries ? RETRY_MS : -1;
}

static enum step on_event(struct mux *mux, const struct epoll_event *event) {
  enum rd_watched *kind = event->data.ptr;
  switch (*kind) {
  case RD_WATCHED_INPUT:
    mux->readable = true;
    if (event->events & (EPOLLHUP | EPOLLERR)) mux->hung_up = true;
    return STEP_ON;
  case RD_WATCHED_OUTPUT:
    mux->writable = true;
    return STEP_ON;
  case RD_WATCHED_SIGNALS:
    return STEP_SIGNALLED;
  case RD_WATCHED_RESOLVER:
    take_lookups(mux);
    return STEP_ON;
  case RD_WATCHED_LISTENER:
    accept_all(mux, (struct rd_forward_listener_socket *)(void *)kind);
    return STEP_ON;
  case RD_WATCHED_STREAM:
    on_stream_event(mux, (struct rd_stream *)(void *)kind, event->events);
    return STEP_ON;
  }
  return STEP_ON;
}

static void on_stream_event(struct mux *mux, struct rd_stream *stream, uint32_t events) {
  int number = 0;
  socklen_t bytes = sizeof number;
  if (stream->state == RD_STREAM_OVER) return;
  if (stream->state == RD_STREAM_DIALLING) {
    finish_dial(mux, stream);
    return;
  }
  if (events & EPOLLERR) getsockopt(stream->fd, SOL_SOCKET, SO_ERROR, &number, &bytes);
  if (number != 0) rd_stream_cut(stream, &mux->shared, RD_FORWARD_RESET, NULL);
  if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP)) stream->readable = true;
  if (events & (EPOLLRDHUP | EPOLLHUP)) stream->hung_up = true;
  if (events & EPOLLOUT) {
    stream->writable = true;
    rd_stream_flush(stream, &mux->shared);
  }
  rd_streams_note(&mux->streams, stream);
}

// Level-triggered: remaining connections are reported again.
static void accept_all(struct mux *mux, struct rd_forward_listener_socket *socket) {
  for (int i = 0; i < EVENTS; i++) {
    char peer[RD_PEER_TEXT_BYTES];
    int fd;
    bool has_room = mux->streams.count < RD_STREAMS_MAX && mux->accepts;
    enum rd_outcome outcome = has_room ? rd_forward_listener_accept(socket, &fd, peer) : RD_OUTCOME_FAILED;
    if (outcome == RD_OUTCOME_DONE) {
      offer(mux, socket->listener, fd, peer);
      continue;
    }
    if (outcome == RD_OUTCOME_FAILED) { // retry in a moment
      struct epoll_event none = {.events = 0, .data.ptr = &socket->kind};
      epoll_ctl(mux->epoll_fd, EPOLL_CTL_MOD, socket->fd, &none);
      mux->retries = true;
    }
    return;
  }
}

static void offer(struct mux *mux, const struct rd_forward_listener *listener, int fd, const char *peer) {
  struct rd_stream *stream = rd_streams_add(&mux->streams, mux->next_own, RD_STREAM_OFFERED);
  mux->next_own += 2;
  stream->fd = fd;
  stream->target = listener->index;
  memcpy(stream->peer, peer, strlen(peer) + 1);
  struct rd_forward_frame frame = {.type = RD_FORWARD_OPEN,
                                   .stream = stream->id,
                                   .index = listener->index,
                                   .number = RD_ALLOWANCE_MIN,
                                   .text = (const unsigned char *)peer,
                                   .text_bytes = strlen(peer)};
  rd_outbox_put(&mux->shared.outbox, &frame);
  if (!rd_watch(mux->epoll_fd, fd, STREAM_EVENTS, &stream->kind))
    rd_stream_cut(stream, &mux->shared, RD_FORWARD_RESET, NULL);
  rd_streams_note(&mux->streams, stream);
}

static enum step receive(struct mux *mux, struct rd_error *error) {
  unsigned char *room = rd_byte_queue_reserve(&mux->received, READ_BYTES);
  ssize_t got = rd_read_some(mux->settings->in_fd, room, READ_BYTES);
  if (got == 0 || (got < 0 && errno != EAGAIN)) return STEP_LOST;
  // Everything was read: an event follows when there is more, but none for an end that came with the last event.
  mux->readable = got == (ssize_t)READ_BYTES || (got > 0 && mux->hung_up);
  if (got > 0) rd_byte_queue_fill(&mux->received, (size_t)got);
  for (;;) {
    struct rd_forward_frame frame;
    size_t used;
    enum rd_outcome outcome = rd_forward_frame_decode(rd_byte_queue_first(&mux->received),
                                                      rd_byte_queue_count(&mux->received), &frame, &used, error);
    if (outcome == RD_OUTCOME_FAILED) return STEP_FAILED;
    if (outcome == RD_OUTCOME_AGAIN) return STEP_ON;
    enum step step = on_frame(mux, &frame, error);
    if (step != STEP_ON) return step;
    rd_byte_queue_take(&mux->received, used);
  }
}

static enum step on_frame(struct mux *mux, const struct rd_forward_frame *frame, struct rd_error *error) {
  if (frame->type == RD_FORWARD_BYE) return STEP_BYE;
  if (frame->type == RD_FORWARD_OPEN) return on_open(mux, frame, error) ? STEP_ON : STEP_FAILED;
  bool is_own = frame->stream % 2 == mux->next_own % 2;
  if (frame->stream == 0 || frame->stream >= (is_own ? mux->next_own : mux->next_theirs)) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the other end sent a record of type %u for no connection", frame->type);
    return STEP_FAILED;
  }
  struct rd_stream *stream = rd_streams_find(&mux->streams, frame->stream);
  if (stream == NULL) return STEP_ON; // it ended here before the other end knew that
  bool is_answer = frame->type == RD_FORWARD_OPENED || frame->type == RD_FORWARD_REFUSED;
  bool is_good =
      is_answer ? on_answer(mux, stream, frame, error) : rd_stream_receive(stream, &mux->shared, frame, error);
  rd_streams_note(&mux->streams, stream);
  return is_good ? STEP_ON : STEP_FAILED;
}

// Only addresses from the command line are dialed.
static bool on_open(struct mux *mux, const struct rd_forward_frame *frame, struct rd_error *error) {
  if (frame->stream != mux->next_theirs || frame->index >= mux->settings->target_count ||
      frame->number > RD_ALLOWANCE_MAX) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the other end opened a connection that it may not open");
    return false;
  }
  mux->next_theirs += 2;
  struct rd_stream *stream = rd_streams_add(&mux->streams, frame->stream, RD_STREAM_RESOLVING);
  stream->target = frame->index;
  stream->credit = frame->number;
  const struct rd_place *target = &mux->settings->targets[frame->index];
  struct rd_error reason = {0};
  if (mux->streams.count > 2 * RD_STREAMS_MAX) {
    rd_stream_cut(stream, &mux->shared, RD_FORWARD_REFUSED, "too many connections");
  } else {
    enum rd_outcome outcome = rd_resolver_find(mux->resolver, stream->id, target, &stream->dial, &reason);
    if (outcome != RD_OUTCOME_AGAIN) dial(mux, stream, &reason);
  }
  rd_streams_note(&mux->streams, stream);
  return true;
}

static bool on_answer(struct mux *mux, struct rd_stream *stream, const struct rd_forward_frame *frame,
                      struct rd_error *error) {
  if (stream->state != RD_STREAM_OFFERED || frame->number > RD_ALLOWANCE_MAX) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the other end sent an answer out of place");
    return false;
  }
  if (frame->type == RD_FORWARD_OPENED) {
    rd_stream_begin(stream, frame->number);
    return true;
  }
  on_refused(mux, stream, frame);
  rd_stream_cut(stream, &mux->shared, 0, NULL);
  return true;
}

static void on_refused(struct mux *mux, const struct rd_stream *stream, const struct rd_forward_frame *frame) {
  char reason[RD_PLACE_TEXT_BYTES + 100], text[sizeof reason + RD_PEER_TEXT_BYTES + 32];
  if (mux->settings->warn == NULL) return;
  rd_forward_frame_text(frame, reason, sizeof reason);
  snprintf(text, sizeof text, "connection of %s: %s", stream->peer, reason);
  mux->settings->warn(text);
}

static void take_lookups(struct mux *mux) {
  struct rd_resolution resolution;
  while (rd_resolver_take(mux->resolver, &resolution)) {
    struct rd_stream *stream = rd_streams_find(&mux->streams, resolution.stream);
    if (stream == NULL || stream->state != RD_STREAM_RESOLVING) continue;
    stream->dial = resolution.dial;
    dial(mux, stream, &resolution.error);
    rd_streams_note(&mux->streams, stream);
  }
}

// `error`: the reason why there is no address, or why the last dial failed.
static void dial(struct mux *mux, struct rd_stream *stream, struct rd_error *error) {
  char reason[RD_PLACE_TEXT_BYTES + sizeof error->message + 4], place[RD_PLACE_TEXT_BYTES];
  stream->state = RD_STREAM_DIALLING;
  enum rd_outcome outcome = rd_dial_next(&stream->dial, &stream->fd, error);
  if (outcome == RD_OUTCOME_AGAIN) {
    mux->retries = true;
    return;
  }
  if (outcome == RD_OUTCOME_DONE && rd_watch(mux->epoll_fd, stream->fd, STREAM_EVENTS, &stream->kind)) return;
  rd_place_text(&mux->settings->targets[stream->target], place);
  snprintf(reason, sizeof reason, "%s: %s", place, error->message);
  rd_stream_cut(stream, &mux->shared, RD_FORWARD_REFUSED, reason);
}

static void finish_dial(struct mux *mux, struct rd_stream *stream) {
  struct rd_error error;
  enum rd_outcome outcome = rd_dial_finish(stream->fd, &error);
  if (outcome == RD_OUTCOME_AGAIN) return;
  if (outcome == RD_OUTCOME_FAILED) {
    rd_cleanup_fd(&stream->fd);
    dial(mux, stream, &error);
  } else {
    rd_stream_begin(stream, stream->credit);
    struct rd_forward_frame frame = {.type = RD_FORWARD_OPENED, .stream = stream->id, .number = RD_ALLOWANCE_MIN};
    rd_outbox_put(&mux->shared.outbox, &frame);
  }
  rd_streams_note(&mux->streams, stream);
}

static void retry(struct mux *mux) {
  mux->retries = false;
  for (size_t i = 0; i < mux->settings->listener_count; i++) {
    struct rd_forward_listener *listener = &mux->settings->listeners[i];
    for (size_t j = 0; j < listener->socket_count; j++) {
      struct epoll_event event = {.events = EPOLLIN, .data.ptr = &listener->sockets[j].kind};
      epoll_ctl(mux->epoll_fd, EPOLL_CTL_MOD, listener->sockets[j].fd, &event);
    }
  }
  rd_streams_each(&mux->streams, retry_stream, mux);
}

static void retry_stream(void *context, struct rd_stream *stream) {
  struct mux *mux = context;
  struct rd_error error = {0};
  if (stream->state != RD_STREAM_DIALLING || stream->fd >= 0) return;
  dial(mux, stream, &error);
  rd_streams_note(&mux->streams, stream);
}

// Each connection sends one record in turn.
static enum step send_all(struct mux *mux, struct rd_error *error) {
  for (int round = 0; round < ROUNDS; round++) {
    struct rd_stream *stream;
    while (rd_outbox_has_room(&mux->shared.outbox) && (stream = rd_streams_next(&mux->streams)) != NULL) {
      rd_stream_send(stream, &mux->shared);
      rd_streams_note(&mux->streams, stream);
    }
    if (rd_byte_queue_count(&mux->shared.outbox.queue) > RD_OUTBOX_MAX_BYTES) {
      rd_error_set(error, RD_CODE_DATA_DAMAGED, "the other end does not read the answers that it asks for");
      return STEP_FAILED;
    }
    if (!mux->writable || rd_outbox_is_empty(&mux->shared.outbox)) return STEP_ON;
    enum rd_outcome outcome = flush(mux);
    if (outcome == RD_OUTCOME_FAILED) return STEP_LOST;
    if (outcome == RD_OUTCOME_AGAIN) return STEP_ON;
  }
  return STEP_ON;
}

static enum rd_outcome flush(struct mux *mux) {
  enum rd_outcome outcome = rd_outbox_flush(&mux->shared.outbox, mux->settings->out_fd);
  mux->writable = outcome == RD_OUTCOME_DONE;
  return outcome;
}

// If the pipe accepts no BYE in time, the other end gets none: its input ends anyway.
static void end(struct mux *mux, enum step step) {
  rd_streams_each(&mux->streams, cut, mux);
  rd_streams_bury(&mux->streams);
  int64_t until = rd_now_ms() + FAREWELL_MS;
  if (step == STEP_SIGNALLED) {
    rd_outbox_put(&mux->shared.outbox, &(struct rd_forward_frame){.type = RD_FORWARD_BYE});
    while (flush(mux) == RD_OUTCOME_AGAIN && rd_now_ms() < until)
      rd_wait_fd(mux->settings->out_fd, POLLOUT, (int)(until - rd_now_ms()));
  }
  rd_byte_queue_clear(&mux->received);
  rd_byte_queue_clear(&mux->shared.outbox.queue);
  rd_resolver_destroy(mux->resolver);
  rd_cleanup_fd(&mux->epoll_fd);
}

static void cut(void *context, struct rd_stream *stream) {
  struct mux *mux = context;
  rd_stream_cut(stream, &mux->shared, 0, NULL);
  rd_streams_note(&mux->streams, stream);
}
