// SPDX-License-Identifier: Apache-2.0
// A transport between two ends in memory, with faults on request. Only for tests: it copies, and takes its lock for
// everything.
#include "memory_transport.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "wire/slots.h"
#include "wire/wire.h"

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>

enum { PARTS_MAX = 4, QUEUE_DEFAULT = 16 };

struct copy {
  struct copy *next;
  size_t bytes;
  unsigned char data[];
};

// State that only the thread of this end uses.
struct mem {
  struct rd_transport base;
  struct pair *pair;
  unsigned side;
  struct rd_slots slots;
  struct iovec parts[PARTS_MAX]; // accepted, not yet delivered
  int count;
  uint64_t released;
  unsigned sends;
  size_t used_bytes; // of the memory limit
};

// The messages on their way to one end, and why that end may have to be woken. Protected by the lock.
struct inbox {
  struct copy *first, **last;
  unsigned count;
  bool has_slot;   // the owner can accept a message
  bool waits_room; // the owner has a message for the other inbox
  bool refused;    // the owner's last message did not fit: it tries again
  int wake_fd;
  bool woken;
};

struct pair {
  pthread_mutex_t lock;
  struct rd_mem_faults faults;
  struct mem ends[2];
  struct inbox inboxes[2];
  unsigned messages; // number of messages sent by end 0
  unsigned alive;    // number of ends not yet destroyed
  bool lost;
};

static unsigned mem_lanes_most(const struct rd_transport *transport);
static uint32_t mem_rtt_us(const struct rd_transport *transport);
static void mem_expect_lanes(struct rd_transport *transport, unsigned most, unsigned first);
static bool mem_join(struct rd_transport *transport, struct rd_transport *lane, struct rd_error *error);
static bool mem_arm(struct rd_transport *transport, unsigned slots, size_t payload_bytes, struct rd_error *error);
static size_t mem_memory_most_bytes(const struct rd_transport *transport);
static bool mem_register(struct rd_transport *transport, const void *memory, size_t bytes, struct rd_error *error);
static bool use_memory(struct mem *mem, size_t bytes, struct rd_error *error);
static int mem_poll_fd(const struct rd_transport *transport);
static short mem_poll_events(const struct rd_transport *transport);
static enum rd_outcome mem_send(struct rd_transport *transport, const struct iovec *parts, int count,
                                struct rd_error *error);
static bool mem_flush(struct rd_transport *transport, struct rd_error *error);
static uint64_t mem_released(const struct rd_transport *transport);
static void mem_expect_releases(struct rd_transport *transport, bool expected);
static void mem_quiet(struct rd_transport *transport);
static enum rd_outcome mem_receive(struct rd_transport *transport, struct rd_message *message, struct rd_error *error);
static void mem_give_back(struct rd_transport *transport, const struct rd_message *message);
static const char *mem_name(const struct rd_transport *transport);
static const char *mem_device_name(const struct rd_transport *transport);
static int64_t mem_silent_ms(const struct rd_transport *transport);
static void mem_tune_long_path(struct rd_transport *transport, size_t window_bytes, bool congestion);
static void mem_limits(const struct rd_transport *transport, struct rd_limits *limits);
static void mem_disconnect(struct rd_transport *transport);
static void mem_destroy(struct rd_transport *transport);

static struct mem *mem_of(const struct rd_transport *transport);
static struct inbox *own_inbox(const struct mem *mem);
static struct inbox *other_inbox(const struct mem *mem);
static bool create_end(struct pair *pair, unsigned side, struct rd_error *error);
static void destroy_pair(struct pair *pair);
static void update_wakes(struct pair *pair);
static bool is_wakeful(const struct pair *pair, unsigned side);
static bool has_room(const struct pair *pair, const struct inbox *inbox);
static bool refuses(struct mem *mem);
static struct copy *copy_parts(const struct iovec *parts, int count);
static void put_on_way(struct mem *mem, struct copy *copy);
static struct copy *take_first(struct inbox *inbox);
static bool fill_slot(struct mem *mem, const struct copy *copy, struct rd_message *message, struct rd_error *error);
static bool is_lost(struct pair *pair, struct rd_error *error);

static const struct rd_transport_ops mem_ops = {
    .name = "mem",
    .lanes_most = mem_lanes_most,
    .rtt_us = mem_rtt_us,
    .expect_lanes = mem_expect_lanes,
    .join = mem_join,
    .arm = mem_arm,
    .memory_most_bytes = mem_memory_most_bytes,
    .register_memory = mem_register,
    .poll_fd = mem_poll_fd,
    .poll_events = mem_poll_events,
    .send = mem_send,
    .flush = mem_flush,
    .released = mem_released,
    .expect_releases = mem_expect_releases,
    .quiet = mem_quiet,
    .receive = mem_receive,
    .give_back = mem_give_back,
    .local_name = mem_name,
    .peer_name = mem_name,
    .device_name = mem_device_name,
    .silent_ms = mem_silent_ms,
    .tune_long_path = mem_tune_long_path,
    .limits = mem_limits,
    .disconnect = mem_disconnect,
    .destroy = mem_destroy,
};

bool rd_mem_pair(const struct rd_mem_faults *faults, struct rd_transport *ends[2], struct rd_error *error) {
  struct pair *pair = calloc(1, sizeof *pair);
  if (pair == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a pair of ends");
    return false;
  }
  pthread_mutex_init(&pair->lock, NULL);
  if (faults != NULL) pair->faults = *faults;
  pair->alive = 2;
  pair->inboxes[0].wake_fd = pair->inboxes[1].wake_fd = -1;
  for (unsigned side = 0; side < 2; side++) {
    if (!create_end(pair, side, error)) {
      destroy_pair(pair);
      return false;
    }
    ends[side] = &pair->ends[side].base;
  }
  return true;
}

static bool create_end(struct pair *pair, unsigned side, struct rd_error *error) {
  struct inbox *inbox = &pair->inboxes[side];
  pair->ends[side] = (struct mem){.base = {.ops = &mem_ops}, .pair = pair, .side = side};
  inbox->has_slot = true;
  inbox->last = &inbox->first;
  inbox->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (inbox->wake_fd >= 0) return rd_slots_create_early(&pair->ends[side].slots, error);
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create an eventfd");
  return false;
}

static unsigned mem_lanes_most(const struct rd_transport *transport) {
  (void)transport;
  return 1;
}

static uint32_t mem_rtt_us(const struct rd_transport *transport) {
  (void)transport;
  return 0;
}

static void mem_expect_lanes(struct rd_transport *transport, unsigned most, unsigned first) {
  (void)transport, (void)most, (void)first;
}

static bool mem_join(struct rd_transport *transport, struct rd_transport *lane, struct rd_error *error) {
  (void)transport;
  rd_transport_destroy(lane);
  rd_error_set(error, RD_CODE_INTERNAL, "this transport has one lane");
  return false;
}

static bool mem_arm(struct rd_transport *transport, unsigned slots, size_t payload_bytes, struct rd_error *error) {
  struct mem *mem = mem_of(transport);
  struct rd_slots armed;
  if (mem->slots.free_count != mem->slots.count) {
    rd_error_set(error, RD_CODE_INTERNAL, "a message is still in use while memory for data is set up");
    return false;
  }
  if (!rd_slots_create(&armed, slots, payload_bytes, error)) return false;
  rd_slots_free(&mem->slots);
  mem->slots = armed;
  return use_memory(mem, slots * armed.stride_bytes, error);
}

static size_t mem_memory_most_bytes(const struct rd_transport *transport) {
  size_t most_bytes = mem_of(transport)->pair->faults.memory_bytes;
  return most_bytes > 0 ? most_bytes : SIZE_MAX;
}

static bool mem_register(struct rd_transport *transport, const void *memory, size_t bytes, struct rd_error *error) {
  (void)memory;
  return use_memory(mem_of(transport), bytes, error);
}

static bool use_memory(struct mem *mem, size_t bytes, struct rd_error *error) {
  mem->used_bytes += bytes;
  if (mem->used_bytes <= mem_memory_most_bytes(&mem->base)) return true;
  rd_error_set(error, RD_CODE_INTERNAL, "more memory is used than there is");
  return false;
}

static int mem_poll_fd(const struct rd_transport *transport) {
  return own_inbox(mem_of(transport))->wake_fd;
}

// The eventfd is readable whenever there is something to do, even if that is to send.
static short mem_poll_events(const struct rd_transport *transport) {
  (void)transport;
  return POLLIN;
}

static enum rd_outcome mem_send(struct rd_transport *transport, const struct iovec *parts, int count,
                                struct rd_error *error) {
  struct mem *mem = mem_of(transport);
  size_t bytes = 0;
  if (mem->count > 0 || refuses(mem)) return RD_OUTCOME_AGAIN;
  for (int i = 0; i < count && i < PARTS_MAX; i++) {
    mem->parts[i] = parts[i];
    bytes += parts[i].iov_len;
  }
  if (count > PARTS_MAX || bytes < RD_HEADER_BYTES) {
    rd_error_set(error, RD_CODE_INTERNAL, "cannot send a message of %d parts and %zu bytes", count, bytes);
    return RD_OUTCOME_FAILED;
  }
  mem->count = count;
  return RD_OUTCOME_DONE;
}

// A refusal wakes the owner at once, like a socket that is writable again.
static bool refuses(struct mem *mem) {
  unsigned every = mem->side == 0 ? mem->pair->faults.refuse_every : 0;
  if (every == 0 || ++mem->sends % every != 0) return false;
  pthread_mutex_lock(&mem->pair->lock);
  own_inbox(mem)->refused = true;
  update_wakes(mem->pair);
  pthread_mutex_unlock(&mem->pair->lock);
  return true;
}

static bool mem_flush(struct rd_transport *transport, struct rd_error *error) {
  struct mem *mem = mem_of(transport);
  struct pair *pair = mem->pair;
  pthread_mutex_lock(&pair->lock);
  own_inbox(mem)->refused = false;
  bool lost = mem->count > 0 && is_lost(pair, error);
  if (mem->count > 0 && !lost && has_room(pair, other_inbox(mem))) {
    struct copy *copy = copy_parts(mem->parts, mem->count);
    if (copy != NULL) put_on_way(mem, copy);
  }
  own_inbox(mem)->waits_room = mem->count > 0 && !lost;
  update_wakes(pair);
  pthread_mutex_unlock(&pair->lock);
  return !lost;
}

// NULL if there is no memory: the message then stays queued and is tried again.
static struct copy *copy_parts(const struct iovec *parts, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += parts[i].iov_len;
  struct copy *copy = malloc(sizeof *copy + bytes);
  if (copy == NULL) return NULL;
  *copy = (struct copy){.bytes = 0};
  for (int i = 0; i < count; i++) {
    memcpy(copy->data + copy->bytes, parts[i].iov_base, parts[i].iov_len);
    copy->bytes += parts[i].iov_len;
  }
  return copy;
}

static void put_on_way(struct mem *mem, struct copy *copy) {
  struct pair *pair = mem->pair;
  struct inbox *inbox = other_inbox(mem);
  if (mem->side == 0) {
    pair->messages++;
    if (pair->messages == pair->faults.corrupt_message) copy->data[copy->bytes / 2] ^= 1;
    if (pair->messages == pair->faults.close_after) pair->lost = true;
  }
  *inbox->last = copy;
  inbox->last = &copy->next;
  inbox->count++;
  mem->count = 0;
  mem->released++;
}

static uint64_t mem_released(const struct rd_transport *transport) {
  return mem_of(transport)->released;
}

// The eventfd reports everything anyway.
static void mem_expect_releases(struct rd_transport *transport, bool expected) {
  (void)transport, (void)expected;
}

static void mem_quiet(struct rd_transport *transport) {
  (void)transport;
}

static enum rd_outcome mem_receive(struct rd_transport *transport, struct rd_message *message, struct rd_error *error) {
  struct mem *mem = mem_of(transport);
  struct inbox *inbox = own_inbox(mem);
  pthread_mutex_lock(&mem->pair->lock);
  inbox->refused = false;
  struct copy *copy = mem->slots.free_count > 0 ? take_first(inbox) : NULL;
  enum rd_outcome result =
      copy != NULL ? (fill_slot(mem, copy, message, error) ? RD_OUTCOME_DONE : RD_OUTCOME_FAILED) : RD_OUTCOME_AGAIN;
  if (copy == NULL && inbox->count == 0 && is_lost(mem->pair, error)) result = RD_OUTCOME_FAILED;
  inbox->has_slot = mem->slots.free_count > 0;
  update_wakes(mem->pair);
  pthread_mutex_unlock(&mem->pair->lock);
  free(copy);
  return result;
}

static struct copy *take_first(struct inbox *inbox) {
  struct copy *copy = inbox->first;
  if (copy == NULL) return NULL;
  inbox->first = copy->next;
  if (inbox->first == NULL) inbox->last = &inbox->first;
  inbox->count--;
  return copy;
}

static bool fill_slot(struct mem *mem, const struct copy *copy, struct rd_message *message, struct rd_error *error) {
  if (copy->bytes > mem->slots.message_bytes) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the other side sent a message of %zu bytes where %zu are allowed",
                 copy->bytes, mem->slots.message_bytes);
    return false;
  }
  (void)rd_slots_take(&mem->slots, &message->slot);
  message->data = rd_slots_message(&mem->slots, message->slot);
  message->bytes = copy->bytes;
  memcpy(message->data, copy->data, copy->bytes);
  return true;
}

static bool is_lost(struct pair *pair, struct rd_error *error) {
  if (!pair->lost && pair->alive == 2) return false;
  rd_error_set(error, RD_CODE_PEER_CLOSED, "the other side closed the connection");
  return true;
}

static void mem_give_back(struct rd_transport *transport, const struct rd_message *message) {
  struct mem *mem = mem_of(transport);
  rd_slots_give(&mem->slots, message->slot);
  pthread_mutex_lock(&mem->pair->lock);
  own_inbox(mem)->has_slot = true;
  update_wakes(mem->pair);
  pthread_mutex_unlock(&mem->pair->lock);
}

static const char *mem_name(const struct rd_transport *transport) {
  (void)transport;
  return "memory";
}

static const char *mem_device_name(const struct rd_transport *transport) {
  (void)transport;
  return NULL;
}

static int64_t mem_silent_ms(const struct rd_transport *transport) {
  (void)transport;
  return INT64_MAX;
}

static void mem_tune_long_path(struct rd_transport *transport, size_t window_bytes, bool congestion) {
  (void)transport, (void)window_bytes, (void)congestion;
}

static void mem_limits(const struct rd_transport *transport, struct rd_limits *limits) {
  (void)transport;
  *limits = (struct rd_limits){0};
}

static void mem_disconnect(struct rd_transport *transport) {
  struct pair *pair = mem_of(transport)->pair;
  pthread_mutex_lock(&pair->lock);
  pair->lost = true;
  update_wakes(pair);
  pthread_mutex_unlock(&pair->lock);
}

static void mem_destroy(struct rd_transport *transport) {
  struct mem *mem = mem_of(transport);
  struct pair *pair = mem->pair;
  pthread_mutex_lock(&pair->lock);
  bool last = --pair->alive == 0;
  update_wakes(pair);
  pthread_mutex_unlock(&pair->lock);
  if (last) destroy_pair(pair);
}

static void destroy_pair(struct pair *pair) {
  for (unsigned side = 0; side < 2; side++) {
    rd_slots_free(&pair->ends[side].slots);
    rd_cleanup_fd(&pair->inboxes[side].wake_fd);
    for (struct copy *copy; (copy = take_first(&pair->inboxes[side])) != NULL;) free(copy);
  }
  pthread_mutex_destroy(&pair->lock);
  free(pair);
}

static void update_wakes(struct pair *pair) {
  for (unsigned side = 0; side < 2; side++) {
    struct inbox *inbox = &pair->inboxes[side];
    bool wakeful = is_wakeful(pair, side);
    uint64_t count = 1;
    if (wakeful && !inbox->woken) (void)rd_write_some(inbox->wake_fd, &count, sizeof count);
    if (!wakeful && inbox->woken) (void)rd_read_some(inbox->wake_fd, &count, sizeof count);
    inbox->woken = wakeful;
  }
}

static bool is_wakeful(const struct pair *pair, unsigned side) {
  const struct inbox *inbox = &pair->inboxes[side];
  bool lost = pair->lost || pair->alive < 2;
  bool can_receive = inbox->has_slot && (inbox->count > 0 || lost);
  bool can_send = inbox->waits_room && (lost || has_room(pair, &pair->inboxes[1 - side]));
  return can_receive || can_send || inbox->refused;
}

static bool has_room(const struct pair *pair, const struct inbox *inbox) {
  unsigned most = pair->faults.queue_messages > 0 ? pair->faults.queue_messages : QUEUE_DEFAULT;
  return inbox->count < most;
}

static struct mem *mem_of(const struct rd_transport *transport) {
  return (struct mem *)(uintptr_t)transport;
}

static struct inbox *own_inbox(const struct mem *mem) {
  return &mem->pair->inboxes[mem->side];
}

static struct inbox *other_inbox(const struct mem *mem) {
  return &mem->pair->inboxes[1 - mem->side];
}
