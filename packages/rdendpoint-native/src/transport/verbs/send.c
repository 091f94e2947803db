// SPDX-License-Identifier: Apache-2.0
#include "transport/verbs/send.h"

#include "base/pages.h"
#include "transport/lanes.h"
#include "transport/verbs/memory.h"
#include "wire/wire.h"

#include <stdlib.h>
#include <string.h>

// A SEND that is being assembled.
struct gathering {
  unsigned char *stage;
  size_t staged_bytes;
  struct ibv_sge pieces[RD_VERBS_QUEUE_PIECES_MAX];
  int count;
};

static bool make_stages(struct rd_verbs_send *send, struct rd_verbs_send_stages *stages, unsigned count,
                        struct rd_error *error);
static void drop_stages(struct rd_verbs_send *send, struct rd_verbs_send_stages *stages);
static const struct rd_verbs_send_stages *stages_of(const struct rd_verbs_send *send);
static enum rd_outcome register_parts(struct rd_verbs_send *send, struct rd_verbs_send_message *message,
                                      struct rd_error *error);
static enum rd_outcome register_part(struct rd_verbs_send *send, struct rd_verbs_send_part *part,
                                     struct rd_error *error);
static struct ibv_mr *registered_at(const struct rd_verbs_send *send, const struct rd_verbs_send_part *part);
static void deregister_parts(struct rd_verbs_send *send, struct rd_verbs_send_message *message);
static bool has_room(const struct rd_verbs_send *send, bool with_message);
static bool post_piece(struct rd_verbs_send *send, struct rd_verbs_send_message *message, struct rd_error *error);
static void begin(struct rd_verbs_send *send, struct gathering *gathering, uint32_t message);
static void gather(struct rd_verbs_send *send, struct gathering *gathering, const struct rd_verbs_send_message *message,
                   size_t bytes);
static void add_copy(struct rd_verbs_send *send, struct gathering *gathering, const unsigned char *bytes, size_t count);
static bool post(struct rd_verbs_send *send, struct gathering *gathering, uint64_t owner, struct rd_error *error);

bool rd_verbs_send_open(struct rd_verbs_send *send, struct rd_verbs_queue *queue, struct rd_verbs_flow *flow,
                        struct rd_error *error) {
  *send = (struct rd_verbs_send){.queue = queue, .flow = flow, .registered_most_bytes = rd_verbs_lockable_bytes()};
  return make_stages(send, &send->early, RD_VERBS_SEND_EARLY_STAGES, error);
}

// SENDs in flight keep the early stages.
bool rd_verbs_send_arm(struct rd_verbs_send *send, struct rd_error *error) {
  return make_stages(send, &send->all, RD_VERBS_QUEUE_SENDS_MAX, error);
}

void rd_verbs_send_close(struct rd_verbs_send *send) {
  for (; send->released < send->accepted; send->released++)
    deregister_parts(send, &send->messages[send->released % RD_VERBS_SEND_QUEUE_MAX]);
  while (send->registered_count > 0) send->queue->verbs->ibv_dereg_mr(send->registered[--send->registered_count]);
  drop_stages(send, &send->early);
  drop_stages(send, &send->all);
}

bool rd_verbs_send_register(struct rd_verbs_send *send, const void *memory, size_t bytes, struct rd_error *error) {
  if (send->registered_count == RD_VERBS_SEND_REGISTERED_MAX) {
    rd_error_set(error, RD_CODE_INTERNAL, "too many pieces of memory are registered");
    return false;
  }
  struct ibv_mr *region = rd_verbs_register(send->queue->verbs, send->queue->domain, memory, bytes, false, error);
  if (region == NULL) return false;
  send->registered[send->registered_count++] = region;
  send->registered_bytes += bytes;
  return true;
}

enum rd_outcome rd_verbs_send_accept(struct rd_verbs_send *send, const struct iovec *parts, int count, unsigned number,
                                     struct rd_error *error) {
  if (send->accepted - send->released == RD_VERBS_SEND_QUEUE_MAX) return RD_OUTCOME_AGAIN;
  struct rd_verbs_send_message *message = &send->messages[send->accepted % RD_VERBS_SEND_QUEUE_MAX];
  *message = (struct rd_verbs_send_message){.count = count, .number = number};
  for (int i = 0; i < count && i < RD_VERBS_SEND_PARTS_MAX; i++) {
    message->parts[i] = (struct rd_verbs_send_part){.bytes = parts[i].iov_base, .count = parts[i].iov_len};
    message->bytes += parts[i].iov_len;
  }
  if (count > RD_VERBS_SEND_PARTS_MAX || message->bytes < RD_HEADER_BYTES || message->bytes > RD_MESSAGE_LENGTH_MASK) {
    rd_error_set(error, RD_CODE_INTERNAL, "cannot send a message of %d parts and %zu bytes", count, message->bytes);
    return RD_OUTCOME_FAILED;
  }
  enum rd_outcome registered = register_parts(send, message, error);
  send->lacks_memory = registered == RD_OUTCOME_AGAIN;
  if (registered == RD_OUTCOME_DONE)
    send->accepted++;
  else
    deregister_parts(send, message);
  return registered;
}

bool rd_verbs_send_post(struct rd_verbs_send *send, struct rd_error *error) {
  while (send->posted < send->accepted && has_room(send, true)) {
    struct rd_verbs_send_message *message = &send->messages[send->posted % RD_VERBS_SEND_QUEUE_MAX];
    if (!post_piece(send, message, error)) return false;
    if (message->posted_bytes == message->bytes) send->posted++;
  }
  return true;
}

bool rd_verbs_send_is_full(const struct rd_verbs_send *send) {
  bool waits = send->posted < send->accepted && send->sends - send->completed == stages_of(send)->count;
  return waits || send->lacks_memory || send->accepted - send->released == RD_VERBS_SEND_QUEUE_MAX;
}

bool rd_verbs_send_post_counts(struct rd_verbs_send *send, struct rd_error *error) {
  if (!has_room(send, false)) return true;
  struct gathering gathering;
  begin(send, &gathering, 0);
  return post(send, &gathering, RD_VERBS_SEND_NO_MESSAGE, error);
}

// SENDs complete in the order in which they were posted, and the last SEND of a message comes after its others.
void rd_verbs_send_completed(struct rd_verbs_send *send) {
  uint64_t owner = send->owners[send->completed++ % RD_VERBS_QUEUE_SENDS_MAX];
  if (owner == RD_VERBS_SEND_NO_MESSAGE) return;
  struct rd_verbs_send_message *message = &send->messages[owner % RD_VERBS_SEND_QUEUE_MAX];
  if (--message->sends > 0 || message->posted_bytes < message->bytes) return;
  deregister_parts(send, message);
  send->lacks_memory = false;
  send->released++;
}

static bool make_stages(struct rd_verbs_send *send, struct rd_verbs_send_stages *stages, unsigned count,
                        struct rd_error *error) {
  size_t bytes = count * RD_VERBS_SEND_STAGE_BYTES;
  *stages = (struct rd_verbs_send_stages){.memory = rd_pages_allocate(bytes), .count = count};
  if (stages->memory == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
    return false;
  }
  stages->region = rd_verbs_register(send->queue->verbs, send->queue->domain, stages->memory, bytes, false, error);
  if (stages->region == NULL) drop_stages(send, stages);
  return stages->memory != NULL;
}

static void drop_stages(struct rd_verbs_send *send, struct rd_verbs_send_stages *stages) {
  if (stages->region != NULL) send->queue->verbs->ibv_dereg_mr(stages->region);
  free(stages->memory);
  *stages = (struct rd_verbs_send_stages){0};
}

static const struct rd_verbs_send_stages *stages_of(const struct rd_verbs_send *send) {
  return send->all.memory != NULL ? &send->all : &send->early;
}

// Copies small parts while the stage has space; other parts must be registered.
static enum rd_outcome register_parts(struct rd_verbs_send *send, struct rd_verbs_send_message *message,
                                      struct rd_error *error) {
  size_t room = RD_VERBS_SEND_STAGE_BYTES - RD_VERBS_PREAMBLE_BYTES;
  for (int i = 0; i < message->count; i++) {
    struct rd_verbs_send_part *part = &message->parts[i];
    struct ibv_mr *region = registered_at(send, part);
    part->is_copied = region == NULL && part->count <= room;
    if (part->is_copied) {
      room -= part->count;
      continue;
    }
    enum rd_outcome registered = region == NULL ? register_part(send, part, error) : RD_OUTCOME_DONE;
    if (registered != RD_OUTCOME_DONE) return registered;
    part->key = region != NULL ? region->lkey : part->registered->lkey;
  }
  return RD_OUTCOME_DONE;
}

// AGAIN: there will be memory for it when an earlier message is released.
static enum rd_outcome register_part(struct rd_verbs_send *send, struct rd_verbs_send_part *part,
                                     struct rd_error *error) {
  bool fits = part->count + send->registered_bytes <= send->registered_most_bytes;
  if (!fits && send->released < send->accepted) return RD_OUTCOME_AGAIN;
  part->registered = rd_verbs_register(send->queue->verbs, send->queue->domain, part->bytes, part->count, false, error);
  if (part->registered == NULL) return RD_OUTCOME_FAILED;
  send->registered_bytes += part->count;
  return RD_OUTCOME_DONE;
}

static struct ibv_mr *registered_at(const struct rd_verbs_send *send, const struct rd_verbs_send_part *part) {
  uintptr_t first = (uintptr_t)part->bytes, end = first + part->count;
  for (unsigned i = 0; i < send->registered_count; i++) {
    struct ibv_mr *region = send->registered[i];
    uintptr_t begin = (uintptr_t)region->addr;
    if (first >= begin && end <= begin + region->length) return region;
  }
  return NULL;
}

static void deregister_parts(struct rd_verbs_send *send, struct rd_verbs_send_message *message) {
  for (int i = 0; i < RD_VERBS_SEND_PARTS_MAX; i++) {
    struct rd_verbs_send_part *part = &message->parts[i];
    if (part->registered == NULL) continue;
    send->queue->verbs->ibv_dereg_mr(part->registered);
    send->registered_bytes -= part->count;
    part->registered = NULL;
  }
}

static bool has_room(const struct rd_verbs_send *send, bool with_message) {
  return send->sends - send->completed < stages_of(send)->count && rd_verbs_flow_has_buffer(send->flow, with_message);
}

// Posts as much of the message as the peer's next buffer takes.
static bool post_piece(struct rd_verbs_send *send, struct rd_verbs_send_message *message, struct rd_error *error) {
  size_t left = message->bytes - message->posted_bytes, room = rd_verbs_flow_room_bytes(send->flow);
  size_t bytes = left < room ? left : room;
  struct gathering gathering;
  begin(send, &gathering, (uint32_t)message->bytes | message->number << RD_MESSAGE_NUMBER_SHIFT);
  gather(send, &gathering, message, bytes);
  if (!post(send, &gathering, send->posted, error)) return false;
  message->posted_bytes += bytes;
  message->sends++;
  return true;
}

static void begin(struct rd_verbs_send *send, struct gathering *gathering, uint32_t message) {
  struct rd_verbs_preamble preamble;
  unsigned char bytes[RD_VERBS_PREAMBLE_BYTES];
  const struct rd_verbs_send_stages *stages = stages_of(send);
  *gathering = (struct gathering){.stage = stages->memory + send->sends % stages->count * RD_VERBS_SEND_STAGE_BYTES};
  rd_verbs_flow_announce(send->flow, message, &preamble);
  rd_verbs_preamble_encode(&preamble, bytes);
  add_copy(send, gathering, bytes, sizeof bytes);
}

static void gather(struct rd_verbs_send *send, struct gathering *gathering, const struct rd_verbs_send_message *message,
                   size_t bytes) {
  size_t skip = message->posted_bytes;
  for (int i = 0; i < message->count && bytes > 0; i++) {
    const struct rd_verbs_send_part *part = &message->parts[i];
    if (skip >= part->count) {
      skip -= part->count;
      continue;
    }
    size_t count = part->count - skip < bytes ? part->count - skip : bytes;
    const unsigned char *from = part->bytes + skip;
    if (part->is_copied)
      add_copy(send, gathering, from, count);
    else
      gathering->pieces[gathering->count++] =
          (struct ibv_sge){.addr = (uintptr_t)from, .length = (uint32_t)count, .lkey = part->key};
    bytes -= count;
    skip = 0;
  }
}

// Extends the last piece if it ends where the copy begins.
static void add_copy(struct rd_verbs_send *send, struct gathering *gathering, const unsigned char *bytes,
                     size_t count) {
  unsigned char *to = gathering->stage + gathering->staged_bytes;
  struct ibv_sge *last = gathering->count > 0 ? &gathering->pieces[gathering->count - 1] : NULL;
  memcpy(to, bytes, count);
  gathering->staged_bytes += count;
  if (last != NULL && last->addr + last->length == (uintptr_t)to)
    last->length += (uint32_t)count;
  else
    gathering->pieces[gathering->count++] =
        (struct ibv_sge){.addr = (uintptr_t)to, .length = (uint32_t)count, .lkey = stages_of(send)->region->lkey};
}

static bool post(struct rd_verbs_send *send, struct gathering *gathering, uint64_t owner, struct rd_error *error) {
  uint64_t wr_id = send->sends;
  send->owners[wr_id % RD_VERBS_QUEUE_SENDS_MAX] = owner;
  if (!rd_verbs_queue_post_send(send->queue, wr_id, gathering->pieces, gathering->count, error)) return false;
  send->sends++;
  rd_verbs_flow_spend(send->flow);
  return true;
}
