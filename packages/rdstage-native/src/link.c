// SPDX-License-Identifier: Apache-2.0
#include "link.h"

#include "channel.h"
#include "cleanup.h"
#include "memory.h"
#include "prepare.h"
#include "stage.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

struct link {
  struct agent *agent;
  const struct prepare_spec *prepare;
  const struct link_spec *spec;
  struct link_handler handler;
  struct stage *producer, *consumer;
  struct channel *feed;  // from the producer; of a pipe the same as `drain`
  struct channel *drain; // to the consumer
  struct hop *send, *recv;
  int pair[2];              // joins both ends of a local link; -1
  struct watch *user_watch; // on the user's standard output
  bool release_wanted;      // rdrecv waits for its consumer's death
};

static bool is_read(void *context);
static void on_producer_ended(void *context, bool well, int status);
static bool open_send(struct link *link, struct rd_error *error);
static bool open_recv(struct link *link, struct rd_error *error);
static bool open_local(struct link *link, struct rd_error *error);
static void close_pair(struct link *link);
static bool has_command(const struct link *link, enum hop_side end);
static void on_hop_changed(void *context);
static void on_end(void *context);
static void on_send_finished(void *context, bool well);
static void on_recv_finished(void *context, bool well);
static void on_reader_gone(void *context);
static void on_user_gone(void *context, short ready);

struct link *link_create(struct agent *agent, const struct prepare_spec *prepare, const struct link_spec *spec,
                         const struct link_handler *handler) {
  struct link *link = memory_new(1, sizeof *link);
  *link = (struct link){.agent = agent, .prepare = prepare, .spec = spec, .handler = *handler, .pair = {-1, -1}};
  return link;
}

void link_destroy(struct link *link) {
  if (!link) return;
  watch_end(&link->user_watch);
  hop_destroy(link->send);
  hop_destroy(link->recv);
  if (link->drain != link->feed) channel_destroy(link->drain);
  channel_destroy(link->feed);
  close_pair(link);
  free(link);
}

const struct link_spec *link_spec(const struct link *link) {
  return link->spec;
}

void link_set_producer(struct link *link, struct stage *producer) {
  link->producer = producer;
  producer->output = (struct stage_output){.is_read = is_read, .ended = on_producer_ended, .context = link};
}

void link_set_consumer(struct link *link, struct stage *consumer) {
  link->consumer = consumer;
}

bool link_open(struct link *link, struct rd_error *error) {
  switch (link->spec->kind) {
  case LINK_PIPE:
    link->feed = link->drain = channel_create(link->agent, true, error);
    return link->feed;
  case LINK_HOP:
    return link->spec->end == HOP_SEND ? open_send(link, error) : open_recv(link, error);
  case LINK_LOCAL:
    return open_local(link, error);
  case LINK_NULL:
  case LINK_STDIN:
  case LINK_STDOUT:
    break;
  }
  return true;
}

bool link_is_ready(const struct link *link) {
  return (!link->send || link->send->ready) && (!link->recv || link->recv->ready);
}

struct hop *link_hop(const struct link *link, enum hop_side end) {
  return end == HOP_SEND ? link->send : link->recv;
}

int link_input_fd(const struct link *link) {
  if (link->drain) return channel_read_end(link->drain);
  return link->spec->kind == LINK_STDIN ? link->agent->user_stdin : link->agent->null_fd;
}

int link_output_fd(const struct link *link) {
  if (link->feed) return channel_write_end(link->feed);
  return link->spec->kind == LINK_STDOUT ? link->agent->user_stdout : link->agent->null_fd;
}

void link_go(struct link *link) {
  if (link->consumer && link->consumer->state == STAGE_RUNNING && link->recv)
    hop_consumer(link->recv, link->consumer->pid);
  if (link->drain) channel_reader_started(link->drain, on_reader_gone, link);
  // Not before: a reader that went away while others started already must find the producer's output still there.
  if (link->feed && link->feed != link->drain) channel_reader_started(link->feed, on_reader_gone, link);
  if (link->send && !link->producer) hop_commit(link->send, 0); // a file or the user has no exit status
  if (link->spec->kind == LINK_STDOUT && link->producer)
    link->user_watch = loop_watch(link->agent->loop, link->agent->user_stdout, 0, on_user_gone, link);
}

void link_abort(struct link *link, const char *reason) {
  if (link->send) hop_abort(link->send, reason);
  if (link->recv) hop_abort(link->recv, reason);
}

void link_expect_exit(struct link *link) {
  if (link->send) hop_expect_exit(link->send);
  if (link->recv) hop_expect_exit(link->recv);
}

void link_release(struct link *link) {
  if (link->recv) hop_release(link->recv);
}

void link_hand_over(struct link *link, struct held_write_ends *held) {
  if (link->drain) channel_hand_over(link->drain, held);
}

static bool is_read(void *context) {
  const struct link *link = context;
  if (link->feed) return channel_is_read(link->feed);
  if (link->spec->kind != LINK_STDOUT) return true;
  struct pollfd polled = {.fd = link->agent->user_stdout};
  return poll(&polled, 1, 0) == 0;
}

// Otherwise than well: the consumer dies while its input is open.
static void on_producer_ended(void *context, bool well, int status) {
  struct link *link = context;
  watch_end(&link->user_watch);
  if (link->spec->kind == LINK_PIPE) {
    if (well)
      channel_release(link->feed);
    else
      stage_stop(link->consumer);
  }
  if (!link->send) return;
  char reason[64];
  snprintf(reason, sizeof reason, "stage %u did not end well", link->producer->spec->number);
  if (well)
    hop_commit(link->send, status);
  else
    hop_abort(link->send, reason);
  if (link->feed) channel_release(link->feed);
}

static bool open_send(struct link *link, struct rd_error *error) {
  struct hop_handler handler = {
      .changed = on_hop_changed, .end = on_end, .finished = on_send_finished, .context = link};
  link->send = hop_create(link->agent, link->prepare, link->spec, HOP_SEND, &handler);
  int input = link->spec->source == PARTY_USER ? link->agent->user_stdin : link->agent->null_fd;
  if (has_command(link, HOP_SEND)) {
    link->feed = channel_create(link->agent, false, error);
    if (!link->feed) return false;
    input = channel_read_end(link->feed);
  }
  hop_open(link->send, input, link->pair[0]);
  if (link->feed) channel_close_read_end(link->feed);
  return true;
}

static bool open_recv(struct link *link, struct rd_error *error) {
  struct hop_handler handler = {
      .changed = on_hop_changed, .end = on_end, .finished = on_recv_finished, .context = link};
  link->recv = hop_create(link->agent, link->prepare, link->spec, HOP_RECV, &handler);
  int output = link->spec->sink == PARTY_USER ? link->agent->user_stdout : link->agent->null_fd;
  if (has_command(link, HOP_RECV)) {
    link->drain = channel_create(link->agent, true, error);
    if (!link->drain) return false;
    output = channel_write_end(link->drain);
  }
  hop_open(link->recv, output, link->pair[1]);
  return true;
}

static bool open_local(struct link *link, struct rd_error *error) {
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link->pair)) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot make a socket pair");
    return false;
  }
  return open_send(link, error) && open_recv(link, error);
}

// Once both programs run, only they may have it: each must see the other's death.
static void close_pair(struct link *link) {
  rd_cleanup_fd(&link->pair[0]);
  rd_cleanup_fd(&link->pair[1]);
}

static bool has_command(const struct link *link, enum hop_side end) {
  return (end == HOP_SEND ? link->producer : link->consumer) != NULL;
}

static void on_hop_changed(void *context) {
  struct link *link = context;
  if (link->pair[0] >= 0 && link_is_ready(link)) close_pair(link);
  link->handler.changed(link->handler.context);
}

static void on_end(void *context) {
  struct link *link = context;
  if (link->drain) channel_release(link->drain);
}

static void on_send_finished(void *context, bool well) {
  (void)well;
  struct link *link = context;
  if (link->producer) stage_consumer_gone(link->producer);
}

static void on_recv_finished(void *context, bool well) {
  struct link *link = context;
  if (!link->drain) {
    if (!well) hop_release(link->recv);
    return;
  }
  if (well) {
    channel_release(link->drain);
    return;
  }
  link->release_wanted = true;
  stage_stop(link->consumer);
  channel_close_read_end(link->drain);
  if (!channel_is_read(link->drain)) on_reader_gone(link);
}

// The last reader of a pipe has gone: of the producer's output, or of the consumer's input, or of both in one.
static void on_reader_gone(void *context) {
  struct link *link = context;
  if (link->drain && !channel_is_read(link->drain)) {
    channel_release(link->drain);
    if (link->release_wanted) hop_release(link->recv);
  }
  if (link->producer && !is_read(link)) stage_consumer_gone(link->producer);
}

static void on_user_gone(void *context, short ready) {
  (void)ready;
  struct link *link = context;
  watch_end(&link->user_watch);
  stage_consumer_gone(link->producer);
}
