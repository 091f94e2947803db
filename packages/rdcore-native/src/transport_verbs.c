// SPDX-License-Identifier: Apache-2.0
// Messages over a reliable connected queue pair, which rdma_cm sets up and whose end it tells.
#include "transport_verbs.h"

#include "cleanup.h"
#include "io.h"
#include "spin.h"
#include "verbs_memory.h"
#include "verbs_receive.h"
#include "verbs_send.h"

#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#define COMPLETIONS_AT_ONCE 16
#define ROUNDS_MOST 16 // however much the peer sends
#define DESCRIPTORS 3  // in the epoll set
// What was posted arrives within this time, or the peer is gone: as a socket's close(), the end does not cut it off.
#define LINGER_MS 200

struct verbs {
  struct rd_transport base;
  struct rd_verbs_id id;
  struct rd_queue queue;
  struct rd_flow flow;
  struct rd_send send;
  struct rd_receive receive;
  int epoll_fd; // of the id, the completions, and wake_fd
  int wake_fd;  // readable: something that had arrived can be received now
  bool poll;
  bool listened;        // in this go: its descriptors have nothing more to tell
  bool releases_matter; // somebody waits for more to be released
  uint64_t released_at; // than this, which they know of
  struct rd_spin spin;
  int64_t armed_at_ns;
  bool established;
  struct rd_error failure; // RD_CODE_OK: none yet
  char local[RD_ENDPOINT_WORDS_BYTES];
  char peer[RD_ENDPOINT_WORDS_BYTES];
};

static bool verbs_arm(struct rd_transport *transport, unsigned slots, size_t payload_bytes, struct rd_error *error);
static size_t verbs_memory_most_bytes(const struct rd_transport *transport);
static bool verbs_enroll(struct rd_transport *transport, const void *memory, size_t bytes, struct rd_error *error);
static int verbs_poll_fd(const struct rd_transport *transport);
static short verbs_poll_events(const struct rd_transport *transport);
static int verbs_send(struct rd_transport *transport, const struct iovec *parts, int count, struct rd_error *error);
static bool verbs_flush(struct rd_transport *transport, struct rd_error *error);
static uint64_t verbs_released(const struct rd_transport *transport);
static void verbs_expect_releases(struct rd_transport *transport, bool expected);
static void verbs_quiet(struct rd_transport *transport);
static int verbs_receive(struct rd_transport *transport, struct rd_message *message, struct rd_error *error);
static void verbs_give_back(struct rd_transport *transport, const struct rd_message *message);
static const char *verbs_local_name(const struct rd_transport *transport);
static const char *verbs_peer_name(const struct rd_transport *transport);
static const char *verbs_device_name(const struct rd_transport *transport);
static int64_t verbs_silent_ms(const struct rd_transport *transport);
static void verbs_disconnect(struct rd_transport *transport);
static void verbs_destroy(struct rd_transport *transport);

static int processors(void);
static bool open_all(struct verbs *verbs, struct rd_error *error);
static bool open_waiting(struct verbs *verbs, struct rd_error *error);
static void post(struct verbs *verbs);
static void listen_to_device(struct verbs *verbs);
static bool look_for_more(struct verbs *verbs);
static bool woken(struct verbs *verbs);
static bool wait_is_prepared(struct verbs *verbs);
static bool take_completions(struct verbs *verbs);
static bool take_all(struct verbs *verbs, const struct rd_completions *from, struct rd_error *flushed);
static void wake(const struct verbs *verbs);
static bool take_completion(struct verbs *verbs, const struct ibv_wc *completion, struct rd_error *error);
static void explain_completion(const struct verbs *verbs, const struct ibv_wc *completion, struct rd_error *error);
static void take_events(struct verbs *verbs);
static void take_event(struct verbs *verbs, const struct rd_verbs_event *event);
static void fail(struct verbs *verbs, const struct rd_error *error);
static bool is_well(const struct verbs *verbs, struct rd_error *error);
static void let_device_go(struct verbs *verbs);
static void linger(struct verbs *verbs);
static struct verbs *verbs_of(const struct rd_transport *transport);

static const struct rd_transport_ops verbs_ops = {
    .name = "rdma",
    .arm = verbs_arm,
    .memory_most_bytes = verbs_memory_most_bytes,
    .enroll = verbs_enroll,
    .poll_fd = verbs_poll_fd,
    .poll_events = verbs_poll_events,
    .send = verbs_send,
    .flush = verbs_flush,
    .released = verbs_released,
    .expect_releases = verbs_expect_releases,
    .quiet = verbs_quiet,
    .receive = verbs_receive,
    .give_back = verbs_give_back,
    .local_name = verbs_local_name,
    .peer_name = verbs_peer_name,
    .device_name = verbs_device_name,
    .silent_ms = verbs_silent_ms,
    .disconnect = verbs_disconnect,
    .destroy = verbs_destroy,
};

struct rd_transport *rd_verbs_transport_create(struct rd_verbs_id *id, bool poll, struct rd_error *error) {
  struct verbs *verbs = calloc(1, sizeof *verbs);
  if (verbs == NULL) {
    rd_verbs_id_destroy(id);
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
    return NULL;
  }
  verbs->base.ops = &verbs_ops;
  verbs->id = *id;
  verbs->poll = poll;
  verbs->releases_matter = true;
  verbs->epoll_fd = verbs->wake_fd = -1;
  rd_spin_init(&verbs->spin, processors());
  rd_flow_init(&verbs->flow);
  rd_verbs_id_local(id, verbs->local);
  rd_verbs_id_peer(id, verbs->peer);
  if (open_all(verbs, error)) return &verbs->base;
  verbs_destroy(&verbs->base);
  return NULL;
}

static int processors(void) {
  cpu_set_t allowed;
  return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
}

struct rd_verbs_id *rd_verbs_transport_id(struct rd_transport *transport) {
  return &verbs_of(transport)->id;
}

void rd_verbs_transport_established(struct rd_transport *transport) {
  struct verbs *verbs = verbs_of(transport);
  verbs->established = true;
  rd_verbs_id_local(&verbs->id, verbs->local);
}

static bool open_all(struct verbs *verbs, struct rd_error *error) {
  return rd_queue_open(&verbs->queue, &verbs->id, error) &&
         rd_receive_open(&verbs->receive, &verbs->queue, &verbs->flow, error) &&
         rd_send_open(&verbs->send, &verbs->queue, &verbs->flow, error) && open_waiting(verbs, error);
}

static bool open_waiting(struct verbs *verbs, struct rd_error *error) {
  verbs->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  verbs->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int fds[DESCRIPTORS] = {rd_verbs_id_fd(&verbs->id), rd_queue_fd(&verbs->queue), verbs->wake_fd};
  bool good = verbs->epoll_fd >= 0;
  for (int i = 0; good && i < DESCRIPTORS; i++) {
    struct epoll_event readable = {.events = EPOLLIN, .data.fd = fds[i]};
    good = epoll_ctl(verbs->epoll_fd, EPOLL_CTL_ADD, fds[i], &readable) == 0;
  }
  if (!good) rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot wait for an rdma connection");
  return good;
}

static bool verbs_arm(struct rd_transport *transport, unsigned slots, size_t payload_bytes, struct rd_error *error) {
  struct verbs *verbs = verbs_of(transport);
  return rd_receive_arm(&verbs->receive, slots, payload_bytes, error) && rd_send_arm(&verbs->send, error);
}

static size_t verbs_memory_most_bytes(const struct rd_transport *transport) {
  (void)transport;
  return rd_verbs_lockable_bytes();
}

static bool verbs_enroll(struct rd_transport *transport, const void *memory, size_t bytes, struct rd_error *error) {
  return rd_send_enroll(&verbs_of(transport)->send, memory, bytes, error);
}

static int verbs_poll_fd(const struct rd_transport *transport) {
  return verbs_of(transport)->epoll_fd;
}

static short verbs_poll_events(const struct rd_transport *transport) {
  (void)transport;
  return POLLIN; // also when there is room to send again
}

static int verbs_send(struct rd_transport *transport, const struct iovec *parts, int count, struct rd_error *error) {
  return rd_send_accept(&verbs_of(transport)->send, parts, count, error);
}

static bool verbs_flush(struct rd_transport *transport, struct rd_error *error) {
  struct verbs *verbs = verbs_of(transport);
  post(verbs);
  // With nothing to do but wait, it is worth the system calls to hear whether the peer is there at all.
  if (verbs->releases_matter && verbs->send.released < verbs->send.accepted) listen_to_device(verbs);
  do {
    take_completions(verbs);
    post(verbs);
  } while (!wait_is_prepared(verbs));
  // Whoever asked before it was found out here would wait for it.
  if (verbs->releases_matter && verbs->send.released > verbs->released_at) wake(verbs);
  verbs->released_at = verbs->send.released;
  return is_well(verbs, error);
}

// Whatever waits, and the counts of our own buffers if nothing else carries them.
static void post(struct verbs *verbs) {
  struct rd_error error;
  if (!verbs->established || verbs->failure.code != RD_CODE_OK) return;
  bool good = rd_send_post(&verbs->send, &error);
  if (good && rd_flow_is_due(&verbs->flow, rd_receive_circulating(&verbs->receive)))
    good = rd_send_post_counts(&verbs->send, &error);
  if (!good) fail(verbs, &error);
}

static uint64_t verbs_released(const struct rd_transport *transport) {
  return verbs_of(transport)->send.released;
}

static void verbs_expect_releases(struct rd_transport *transport, bool expected) {
  struct verbs *verbs = verbs_of(transport);
  verbs->releases_matter = expected;
  verbs->released_at = verbs->send.released;
}

static void verbs_quiet(struct rd_transport *transport) {
  verbs_of(transport)->listened = true;
}

// What had arrived before it failed comes first.
static int verbs_receive(struct rd_transport *transport, struct rd_message *message, struct rd_error *error) {
  struct verbs *verbs = verbs_of(transport);
  for (;;) {
    take_completions(verbs);
    int received = rd_receive_next(&verbs->receive, message, error);
    post(verbs); // the peer may wait for our counts while it keeps us busy
    if (received != 0) return received;
    bool was_well = verbs->failure.code == RD_CODE_OK;
    if (!verbs->listened) listen_to_device(verbs);
    verbs->listened = true;
    post(verbs);
    if (was_well && verbs->failure.code != RD_CODE_OK) continue; // it may have sent something before it went
    if (is_well(verbs, error) && (look_for_more(verbs) || !wait_is_prepared(verbs))) continue;
    verbs->listened = false;
    verbs->released_at = verbs->send.released;
    return verbs->failure.code == RD_CODE_OK || verbs->receive.pieces_count > 0 ? 0 : -1;
  }
}

// Before it asks to be woken.
static bool look_for_more(struct verbs *verbs) {
  if (verbs->queue.arrived.armed || verbs->poll || verbs->spin.budget_ns == 0) return false;
  int64_t until_ns = rd_now_ns() + verbs->spin.budget_ns;
  do {
    if (take_completions(verbs)) return true;
  } while (rd_now_ns() < until_ns);
  rd_spin_missed(&verbs->spin);
  return false;
}

// What its descriptors tell. That something completed is by far the most frequent, and what else there is they tell
// again.
static void listen_to_device(struct verbs *verbs) {
  struct epoll_event ready[DESCRIPTORS];
  if (woken(verbs)) return;
  int count = epoll_wait(verbs->epoll_fd, ready, DESCRIPTORS, 0);
  for (int i = 0; i < count; i++) {
    eventfd_t ignored;
    if (ready[i].data.fd == verbs->wake_fd) (void)eventfd_read(verbs->wake_fd, &ignored);
    if (ready[i].data.fd == rd_queue_fd(&verbs->queue)) (void)woken(verbs);
    if (ready[i].data.fd == rd_verbs_id_fd(&verbs->id)) take_events(verbs);
  }
}

static bool woken(struct verbs *verbs) {
  if (!rd_queue_woken(&verbs->queue)) return false;
  rd_spin_waited(&verbs->spin, rd_now_ns() - verbs->armed_at_ns);
  return true;
}

// False: what completed until now must be looked at first.
static bool wait_is_prepared(struct verbs *verbs) {
  if (verbs->poll) return true;
  bool sends_matter = verbs->releases_matter || rd_send_is_full(&verbs->send);
  bool armed = sends_matter && verbs->send.completed < verbs->send.sends && rd_queue_arm(&verbs->queue.sent);
  if (rd_queue_arm(&verbs->queue.arrived)) {
    verbs->armed_at_ns = rd_now_ns();
    armed = true;
  }
  return !armed;
}

static void verbs_give_back(struct rd_transport *transport, const struct rd_message *message) {
  struct verbs *verbs = verbs_of(transport);
  struct rd_error error;
  bool waits;
  if (!rd_receive_give_back(&verbs->receive, message, &waits, &error)) fail(verbs, &error);
  if (waits) wake(verbs);
}

// True: something arrived. That a buffer or a SEND was flushed tells only that the connection ended: of what completed
// in other ways one tells why, whichever queue it is in.
static bool take_completions(struct verbs *verbs) {
  struct rd_error flushed = {.code = RD_CODE_OK};
  take_all(verbs, &verbs->queue.sent, &flushed);
  bool any = take_all(verbs, &verbs->queue.arrived, &flushed);
  if (flushed.code != RD_CODE_OK) fail(verbs, &flushed);
  return any;
}

static bool take_all(struct verbs *verbs, const struct rd_completions *from, struct rd_error *flushed) {
  struct ibv_wc completions[COMPLETIONS_AT_ONCE];
  struct rd_error error;
  for (int round = 0; round < ROUNDS_MOST; round++) {
    int count = rd_queue_poll(from, completions, COMPLETIONS_AT_ONCE);
    if (count < 0) {
      rd_error_set(&error, RD_CODE_PEER_LOST, "the rdma device failed");
      fail(verbs, &error);
    }
    for (int i = 0; i < count; i++) {
      if (take_completion(verbs, &completions[i], &error)) continue;
      if (completions[i].status == IBV_WC_WR_FLUSH_ERR)
        *flushed = error;
      else
        fail(verbs, &error);
    }
    if (count < COMPLETIONS_AT_ONCE) return round > 0 || count > 0;
  }
  wake(verbs); // the rest is for the next time
  return true;
}

static void wake(const struct verbs *verbs) {
  eventfd_write(verbs->wake_fd, 1);
}

static bool take_completion(struct verbs *verbs, const struct ibv_wc *completion, struct rd_error *error) {
  bool is_receive = (completion->wr_id & RD_RECEIVE_NAME) != 0;
  if (completion->status != IBV_WC_SUCCESS) {
    explain_completion(verbs, completion, error);
    return false;
  }
  if (is_receive != (completion->opcode == IBV_WC_RECV) || (!is_receive && completion->opcode != IBV_WC_SEND)) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the rdma device completed operation %d, which nobody asked for",
                 (int)completion->opcode);
    return false;
  }
  verbs->established = true; // what came tells it as well as the id's event, and may come before that
  if (is_receive) return rd_receive_arrived(&verbs->receive, completion->wr_id, completion->byte_len, error);
  rd_send_completed(&verbs->send);
  return true;
}

static void explain_completion(const struct verbs *verbs, const struct ibv_wc *completion, struct rd_error *error) {
  switch (completion->status) {
  case IBV_WC_WR_FLUSH_ERR:
    rd_error_set(error, RD_CODE_PEER_CLOSED, "the connection to %s ended", verbs->peer);
    break;
  case IBV_WC_RETRY_EXC_ERR:
    rd_error_set(error, RD_CODE_PEER_LOST, "%s does not answer any more", verbs->peer);
    break;
  case IBV_WC_RNR_RETRY_EXC_ERR: // the credits are there to prevent it
    rd_error_set(error, RD_CODE_INTERNAL, "%s had no buffer for what it was sent: a fault of rdpipe, please report it",
                 verbs->peer);
    break;
  case IBV_WC_LOC_LEN_ERR:
  case IBV_WC_REM_INV_REQ_ERR:
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "a message on the way from or to %s was too long", verbs->peer);
    break;
  default:
    rd_error_set(error, RD_CODE_PEER_LOST, "the connection to %s failed: %s", verbs->peer,
                 verbs->id.verbs->ibv_wc_status_str(completion->status));
  }
}

static void take_events(struct verbs *verbs) {
  struct rd_verbs_event event;
  while (rd_verbs_id_next(&verbs->id, &event)) take_event(verbs, &event);
}

static void take_event(struct verbs *verbs, const struct rd_verbs_event *event) {
  struct rd_error error;
  switch (event->type) {
  case RDMA_CM_EVENT_ESTABLISHED:
    verbs->established = true;
    return;
  case RDMA_CM_EVENT_DISCONNECTED:
    rd_error_set(&error, RD_CODE_PEER_CLOSED, "%s closed the connection", verbs->peer);
    break;
  case RDMA_CM_EVENT_DEVICE_REMOVAL:
    rd_error_set(&error, RD_CODE_PEER_LOST, "the rdma device of the connection to %s was removed", verbs->peer);
    break;
  case RDMA_CM_EVENT_CONNECT_ERROR:
  case RDMA_CM_EVENT_UNREACHABLE:
  case RDMA_CM_EVENT_REJECTED:
    rd_error_set(&error, RD_CODE_PEER_LOST, "%s gave the connection up", verbs->peer);
    break;
  default: // an address that moves to another port of a bond, the end of the time wait
    return;
  }
  fail(verbs, &error);
}

// What the id says is the reason of what the queue pair did.
static void fail(struct verbs *verbs, const struct rd_error *error) {
  if (verbs->failure.code == RD_CODE_OK) verbs->failure = *error;
}

static bool is_well(const struct verbs *verbs, struct rd_error *error) {
  if (verbs->failure.code == RD_CODE_OK) return true;
  *error = verbs->failure;
  return false;
}

static const char *verbs_local_name(const struct rd_transport *transport) {
  return verbs_of(transport)->local;
}

static const char *verbs_peer_name(const struct rd_transport *transport) {
  return verbs_of(transport)->peer;
}

static const char *verbs_device_name(const struct rd_transport *transport) {
  const struct verbs *verbs = verbs_of(transport);
  return verbs->id.verbs->ibv_get_device_name(verbs->id.id->verbs->device);
}

static int64_t verbs_silent_ms(const struct rd_transport *transport) {
  (void)transport;
  return INT64_MAX;
}

static void verbs_disconnect(struct rd_transport *transport) {
  let_device_go(verbs_of(transport));
}

static void verbs_destroy(struct rd_transport *transport) {
  struct verbs *verbs = verbs_of(transport);
  if (verbs->established) linger(verbs);
  let_device_go(verbs);
  rd_receive_close(&verbs->receive);
  free(verbs);
}

// Queue pair, completions, channel, memory, domain, id: in this order. Once is enough.
static void let_device_go(struct verbs *verbs) {
  if (verbs->established) verbs->id.verbs->rdma_disconnect(verbs->id.id);
  verbs->established = false;
  rd_queue_close(&verbs->queue);
  rd_send_close(&verbs->send);
  rd_receive_let_go(&verbs->receive);
  rd_queue_close_domain(&verbs->queue);
  rd_verbs_id_destroy(&verbs->id);
  rd_cleanup_fd(&verbs->epoll_fd);
  rd_cleanup_fd(&verbs->wake_fd);
}

static void linger(struct verbs *verbs) {
  int64_t until_ms = rd_now_ms() + LINGER_MS;
  for (;;) {
    take_completions(verbs);
    take_events(verbs);
    int64_t left_ms = until_ms - rd_now_ms();
    if (verbs->send.completed == verbs->send.sends || verbs->failure.code != RD_CODE_OK || left_ms <= 0) return;
    verbs->releases_matter = true;
    if (!wait_is_prepared(verbs)) continue;
    rd_wait_fd(verbs->epoll_fd, POLLIN, verbs->poll ? 1 : (int)left_ms);
    (void)rd_queue_woken(&verbs->queue);
  }
}

static struct verbs *verbs_of(const struct rd_transport *transport) {
  return (struct verbs *)(uintptr_t)transport;
}
