// SPDX-License-Identifier: Apache-2.0
#include "run/link.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/tree_role.h"
#include "protocol/prepare.h"
#include "run/channel.h"
#include "run/stage.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

struct rd_link {
  struct rd_agent *agent;
  const struct rd_prepare_spec *prepare;
  const struct rd_link_spec *spec;
  struct rd_link_handler handler;
  struct rd_stage *producer, *consumer;
  struct rd_channel *feed;  // from the producer; in a pipe link the same as `drain`
  struct rd_channel *drain; // to the consumer
  struct rd_hop *send, *recv;
  struct rd_ring_fds passes;   // to the link that passes on the stream received here
  struct rd_ring_fds takes;    // from the link whose stream this one passes on
  struct rd_ring_fds stage;    // the side of the stage whose contents of files do not go through the pipe
  int pair[2];                 // joins both ends of a local link; -1
  struct rd_watch *user_watch; // watches the user's standard output
  bool release_wanted;         // rdrecv waits until its consumer is dead
};

static bool is_read(void *context);
static void on_producer_ended(void *context, bool well, int status);
static bool open_send(struct rd_link *link, struct rd_error *error);
static bool open_recv(struct rd_link *link, struct rd_error *error);
static bool open_local(struct rd_link *link, struct rd_error *error);
static bool moves_contents(const struct rd_stage_spec *spec, bool (*does)(enum rd_tree_role role));
static bool open_hop(struct rd_link *link, struct rd_hop *hop, bool shares, int data_fd, int adopt_fd,
                     struct rd_error *error);
static void close_pair(struct rd_link *link);
static void close_relays(struct rd_link *link);
static bool has_command(const struct rd_link *link, enum rd_hop_side side);
static void on_hop_changed(void *context);
static void on_end(void *context);
static void on_send_finished(void *context, bool well);
static void on_recv_finished(void *context, bool well);
static void on_reader_gone(void *context);
static void on_user_gone(void *context, short ready);

struct rd_link *rd_link_create(struct rd_agent *agent, const struct rd_prepare_spec *prepare,
                               const struct rd_link_spec *spec, const struct rd_link_handler *handler) {
  struct rd_link *link = rd_memory_new(1, sizeof *link);
  *link = (struct rd_link){.agent = agent, .prepare = prepare, .spec = spec, .handler = *handler, .pair = {-1, -1}};
  link->passes = link->takes = link->stage = RD_NO_RING_FDS;
  return link;
}

void rd_link_destroy(struct rd_link *link) {
  if (link == NULL) return;
  rd_watch_end(&link->user_watch);
  rd_hop_destroy(link->send);
  rd_hop_destroy(link->recv);
  if (link->drain != link->feed) rd_channel_destroy(link->drain);
  rd_channel_destroy(link->feed);
  close_pair(link);
  close_relays(link);
  rd_ring_fds_close(&link->stage);
  free(link);
}

const struct rd_link_spec *rd_link_spec(const struct rd_link *link) {
  return link->spec;
}

void rd_link_set_producer(struct rd_link *link, struct rd_stage *producer) {
  link->producer = producer;
  producer->output = (struct rd_stage_output){.is_read = is_read, .ended = on_producer_ended, .context = link};
}

void rd_link_set_consumer(struct rd_link *link, struct rd_stage *consumer) {
  link->consumer = consumer;
}

bool rd_link_join_relay(struct rd_link *link, struct rd_link *to, struct rd_error *error) {
  struct rd_ring_fds sides[2];
  if (!rd_ring_fds_create(sides, error)) return false;
  link->passes = sides[0];
  to->takes = sides[1];
  return true;
}

bool rd_link_open(struct rd_link *link, struct rd_error *error) {
  switch (link->spec->kind) {
  case RD_LINK_PIPE:
    link->feed = link->drain = rd_channel_create(link->agent, true, error);
    return link->feed != NULL;
  case RD_LINK_HOP:
    return link->spec->side == RD_SIDE_SEND ? open_send(link, error) : open_recv(link, error);
  case RD_LINK_LOCAL:
    return open_local(link, error);
  case RD_LINK_NULL:
  case RD_LINK_STDIN:
  case RD_LINK_STDOUT:
    break;
  }
  return true;
}

bool rd_link_is_ready(const struct rd_link *link) {
  return (link->send == NULL || link->send->ready) && (link->recv == NULL || link->recv->ready);
}

struct rd_hop *rd_link_hop(const struct rd_link *link, enum rd_hop_side side) {
  return side == RD_SIDE_SEND ? link->send : link->recv;
}

int rd_link_input_fd(const struct rd_link *link) {
  if (link->drain != NULL) return rd_channel_read_end(link->drain);
  return link->spec->kind == RD_LINK_STDIN ? link->agent->user_stdin : link->agent->null_fd;
}

int rd_link_output_fd(const struct rd_link *link) {
  if (link->feed != NULL) return rd_channel_write_end(link->feed);
  return link->spec->kind == RD_LINK_STDOUT ? link->agent->user_stdout : link->agent->null_fd;
}

struct rd_ring_fds *rd_link_ring(struct rd_link *link) {
  return &link->stage;
}

void rd_link_go(struct rd_link *link) {
  if (link->consumer != NULL && link->consumer->state == RD_STAGE_RUNNING && link->recv != NULL)
    rd_hop_consumer(link->recv, link->consumer->pid);
  if (link->drain != NULL) rd_channel_reader_started(link->drain, on_reader_gone, link);
  // Not earlier: if a reader exits while other commands start, the producer's output must still be open.
  if (link->feed != NULL && link->feed != link->drain) rd_channel_reader_started(link->feed, on_reader_gone, link);
  if (link->send != NULL && link->producer == NULL)
    rd_hop_commit(link->send, 0); // a file or the user has no exit status
  if (link->spec->kind == RD_LINK_STDOUT && link->producer != NULL)
    link->user_watch = rd_loop_watch(link->agent->loop, link->agent->user_stdout, 0, on_user_gone, link);
}

void rd_link_abort(struct rd_link *link, const char *reason) {
  if (link->send != NULL) rd_hop_abort(link->send, reason);
  if (link->recv != NULL) rd_hop_abort(link->recv, reason);
}

void rd_link_expect_exit(struct rd_link *link) {
  if (link->send != NULL) rd_hop_expect_exit(link->send);
  if (link->recv != NULL) rd_hop_expect_exit(link->recv);
}

void rd_link_release(struct rd_link *link) {
  if (link->recv != NULL) rd_hop_release(link->recv);
}

void rd_link_hand_over(struct rd_link *link, struct rd_held_write_ends *held) {
  if (link->drain != NULL) rd_channel_hand_over(link->drain, held);
}

static bool is_read(void *context) {
  const struct rd_link *link = context;
  if (link->feed != NULL) return rd_channel_is_read(link->feed);
  if (link->spec->kind != RD_LINK_STDOUT) return true;
  struct pollfd polled = {.fd = link->agent->user_stdout};
  return poll(&polled, 1, 0) == 0;
}

// After a failure the consumer is killed while its input is open.
static void on_producer_ended(void *context, bool well, int status) {
  struct rd_link *link = context;
  rd_watch_end(&link->user_watch);
  if (link->spec->kind == RD_LINK_PIPE) {
    if (well)
      rd_channel_release(link->feed);
    else
      rd_stage_stop(link->consumer);
  }
  if (link->send == NULL) return;
  char reason[64];
  snprintf(reason, sizeof reason, "stage %u failed", link->producer->spec->number);
  if (well)
    rd_hop_commit(link->send, status);
  else
    rd_hop_abort(link->send, reason);
  if (link->feed != NULL) rd_channel_release(link->feed);
}

static bool open_send(struct rd_link *link, struct rd_error *error) {
  struct rd_hop_handler handler = {
      .changed = on_hop_changed, .end = on_end, .finished = on_send_finished, .context = link};
  link->send = rd_hop_create(link->agent, link->prepare, link->spec, RD_SIDE_SEND, &handler);
  int input = link->spec->source == RD_PARTY_USER ? link->agent->user_stdin : link->agent->null_fd;
  if (has_command(link, RD_SIDE_SEND)) {
    link->feed = rd_channel_create(link->agent, false, error);
    if (link->feed == NULL) return false;
    input = rd_channel_read_end(link->feed);
  }
  rd_hop_set_relay(link->send, link->takes);
  bool shares = link->producer != NULL && moves_contents(link->producer->spec, rd_tree_role_sends_contents);
  if (!open_hop(link, link->send, shares, input, link->pair[0], error)) return false;
  if (link->feed != NULL) rd_channel_close_read_end(link->feed);
  return true;
}

static bool open_recv(struct rd_link *link, struct rd_error *error) {
  struct rd_hop_handler handler = {
      .changed = on_hop_changed, .end = on_end, .finished = on_recv_finished, .context = link};
  link->recv = rd_hop_create(link->agent, link->prepare, link->spec, RD_SIDE_RECV, &handler);
  int output = link->spec->sink == RD_PARTY_USER ? link->agent->user_stdout : link->agent->null_fd;
  if (has_command(link, RD_SIDE_RECV)) {
    link->drain = rd_channel_create(link->agent, true, error);
    if (link->drain == NULL) return false;
    output = rd_channel_write_end(link->drain);
  }
  rd_hop_set_relay(link->recv, link->passes);
  bool shares = link->consumer != NULL && moves_contents(link->consumer->spec, rd_tree_role_takes_contents);
  return open_hop(link, link->recv, shares, output, link->pair[1], error);
}

static bool moves_contents(const struct rd_stage_spec *spec, bool (*does)(enum rd_tree_role role)) {
  enum rd_tree_role role;
  return spec->kind == RD_STAGE_TREE &&
         rd_tree_role_named(json_string_value(json_object_get(spec->settings, "role")), &role) && does(role);
}

// `shares`: with the stage at the other end of its pipe, a ring.
static bool open_hop(struct rd_link *link, struct rd_hop *hop, bool shares, int data_fd, int adopt_fd,
                     struct rd_error *error) {
  struct rd_ring_fds sides[2] = {RD_NO_RING_FDS, RD_NO_RING_FDS};
  bool has_one_end = link->spec->kind == RD_LINK_HOP; // for which `stage` is
  if (shares && has_one_end && !rd_ring_fds_create(sides, error)) return false;
  rd_hop_set_ring(hop, sides[0]);
  if (has_one_end) link->stage = sides[1];
  rd_hop_open(hop, data_fd, adopt_fd); // starts the program at once: it has no file
  rd_ring_fds_close(&sides[0]);
  return true;
}

static bool open_local(struct rd_link *link, struct rd_error *error) {
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link->pair)) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create a socket pair");
    return false;
  }
  return open_send(link, error) && open_recv(link, error);
}

// Once both programs run, only they may hold the pair: each must notice when the other dies.
static void close_pair(struct rd_link *link) {
  rd_cleanup_fd(&link->pair[0]);
  rd_cleanup_fd(&link->pair[1]);
}

// The same for the descriptors of relays.
static void close_relays(struct rd_link *link) {
  rd_ring_fds_close(&link->passes);
  rd_ring_fds_close(&link->takes);
}

static bool has_command(const struct rd_link *link, enum rd_hop_side side) {
  return (side == RD_SIDE_SEND ? link->producer : link->consumer) != NULL;
}

static void on_hop_changed(void *context) {
  struct rd_link *link = context;
  if (link->pair[0] >= 0 && rd_link_is_ready(link)) close_pair(link);
  if (rd_link_is_ready(link)) close_relays(link);
  link->handler.changed(link->handler.context);
}

static void on_end(void *context) {
  struct rd_link *link = context;
  if (link->drain != NULL) rd_channel_release(link->drain);
}

static void on_send_finished(void *context, bool well) {
  (void)well;
  struct rd_link *link = context;
  if (link->producer != NULL) rd_stage_consumer_gone(link->producer);
}

static void on_recv_finished(void *context, bool well) {
  struct rd_link *link = context;
  if (link->drain == NULL) {
    if (!well) rd_hop_release(link->recv);
    return;
  }
  if (well) {
    rd_channel_release(link->drain);
    return;
  }
  link->release_wanted = true;
  rd_stage_stop(link->consumer);
  rd_channel_close_read_end(link->drain);
  if (!rd_channel_is_read(link->drain)) on_reader_gone(link);
}

// The last reader of a pipe has gone: of the producer's output, the consumer's input, or the one pipe that is both.
static void on_reader_gone(void *context) {
  struct rd_link *link = context;
  if (link->drain != NULL && !rd_channel_is_read(link->drain)) {
    rd_channel_release(link->drain);
    if (link->release_wanted) rd_hop_release(link->recv);
  }
  if (link->producer != NULL && !is_read(link)) rd_stage_consumer_gone(link->producer);
}

static void on_user_gone(void *context, short ready) {
  (void)ready;
  struct rd_link *link = context;
  rd_watch_end(&link->user_watch);
  rd_stage_consumer_gone(link->producer);
}
