// SPDX-License-Identifier: Apache-2.0
#include "connection.h"

#include "io.h"
#include "life_signs.h"
#include "outbound.h"
#include "pages.h"
#include "slots.h"
#include "window.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

// Messages whose headers may be on their way at a time.
#define OUTGOING_MOST 64u
// Slots for frames other than DATA: they are given back at once, so one on its way and one in hand are enough.
#define CONTROL_SLOTS 2u
#define PAGE_BYTES 4096u
// Frames that are received in one go: after them it is the turn of whoever commands this end, however much comes.
#define FRAMES_AT_ONCE 256u
#define RING_LEAST_BYTES (2u * PAGE_BYTES)
// Where a device has little memory: pieces that DATA is compressed and sealed in.
#define SCRATCH_LEAST 2u
#define SCRATCH_GOOD_BYTES (64u << 10)

struct outgoing {
  unsigned char header[RD_HEADER_BYTES];
  unsigned char sealed[RD_CONTROL_PAYLOAD_MAX_BYTES + RD_TAG_BYTES];
};

#define OUTGOING_BYTES rd_pages_round(OUTGOING_MOST * sizeof(struct outgoing))

struct rd_connection {
  struct rd_transport *transport;
  struct rd_agreement agreement;
  bool poll;
  size_t memory_left_bytes; // that may still be enrolled
  uint64_t wire_bytes;      // of DATA frames

  struct outgoing *outgoing; // of message n: n % OUTGOING_MOST
  uint64_t accepted;         // messages, by the transport
  // A message that was sealed, and so has its place in the sequence, but that the transport would not take yet.
  struct iovec staged[2];
  bool is_staged;
  // DATA that is compressed or sealed here; NULL: it goes as it is.
  struct rd_outbound *outbound;
  unsigned char *scratch; // of its frames
  size_t data_most_bytes;

  struct rd_slots small; // of none, where small DATA stays in the transport's
  // DATA that must be opened or decompressed; NULL: this end receives none.
  struct rd_inbound *inbound;
  // END, which waits for the DATA before it.
  struct rd_arrival last;
  bool is_last_held;
  bool is_ending;    // no DATA goes out any more, and none that comes is looked at
  unsigned received; // frames in this go
  bool has_more;     // there may be more to receive, of which the descriptor does not tell

  struct rd_life_signs life;
};

static int send_frame(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                      const unsigned char *payload, size_t bytes, struct rd_error *error);
static bool enroll(struct rd_connection *connection, const void *memory, size_t bytes, struct rd_error *error);
static bool looks_again(const struct rd_connection *connection);
static bool arm(struct rd_connection *connection, struct rd_error *error);
static bool make_outgoing(struct rd_connection *connection, struct rd_error *error);
static bool make_outbound(struct rd_connection *connection, const struct rd_connection_settings *settings,
                          struct rd_error *error);
static bool make_small(struct rd_connection *connection, struct rd_error *error);
static bool make_inbound(struct rd_connection *connection, unsigned jobs, struct rd_error *error);
static bool has_room(const struct rd_connection *connection, struct rd_error *error);
static unsigned char *make_memory(struct rd_connection *connection, size_t bytes, struct rd_error *error);
static bool pay_life_signs(struct rd_connection *connection, struct rd_error *error);
static int send_data(struct rd_connection *connection, const struct rd_frame *frame, const unsigned char *payload,
                     size_t bytes, struct rd_error *error);
static bool offer(struct rd_connection *connection, struct rd_error *error);
static bool offer_staged(struct rd_connection *connection, struct rd_error *error);
static bool offer_outbound(struct rd_connection *connection, struct rd_error *error);
static int offer_message(struct rd_connection *connection, const struct iovec parts[2], struct rd_error *error);
static struct outgoing *free_outgoing(struct rd_connection *connection);
static void stage(struct rd_connection *connection, struct outgoing *outgoing, const unsigned char *body, size_t bytes);
static int take_ready(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error);
static int take_message(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error);
static bool open_frame(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error);
static bool make_small_copy(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error);
static bool hold_back(struct rd_connection *connection, const struct rd_arrival *arrival, bool *held,
                      struct rd_error *error);
static bool out_of_place(const struct rd_frame *frame, struct rd_error *error);

struct rd_connection *rd_connection_create(struct rd_transport *transport, const struct rd_agreement *agreement,
                                           const struct rd_connection_settings *settings, struct rd_error *error) {
  struct rd_connection *connection = calloc(1, sizeof *connection);
  if (connection == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
    rd_transport_destroy(transport);
    rd_seal_destroy(agreement->outgoing);
    rd_seal_destroy(agreement->incoming);
    return NULL;
  }
  connection->transport = transport;
  connection->agreement = *agreement;
  connection->poll = settings->poll;
  connection->accepted = transport->ops->released(transport); // those of the handshake
  rd_life_signs_start(&connection->life, settings->stall_timeout_ms, rd_now_ms());
  transport->ops->expect_releases(transport, false);
  if (arm(connection, error) && make_outgoing(connection, error) && make_outbound(connection, settings, error) &&
      make_small(connection, error) && make_inbound(connection, settings->jobs, error) && has_room(connection, error))
    return connection;
  rd_connection_destroy(connection);
  return NULL;
}

void rd_connection_destroy(struct rd_connection *connection) {
  if (connection == NULL) return;
  // Threads first: they use keys, and memory of the transport.
  rd_outbound_destroy(connection->outbound);
  rd_inbound_destroy(connection->inbound);
  rd_transport_destroy(connection->transport);
  rd_seal_destroy(connection->agreement.outgoing);
  rd_seal_destroy(connection->agreement.incoming);
  free(connection->outgoing);
  free(connection->scratch);
  rd_slots_free(&connection->small);
  free(connection);
}

void rd_connection_disconnect(struct rd_connection *connection) {
  if (connection->inbound != NULL) rd_inbound_stop(connection->inbound);
  connection->transport->ops->disconnect(connection->transport);
}

uint32_t rd_connection_epoch(const struct rd_connection *connection) {
  return connection->agreement.mine.epoch;
}

// On a slow line a message takes its time; only then is the transport asked.
int64_t rd_connection_silent_ms(const struct rd_connection *connection) {
  int64_t silent_ms = rd_now_ms() - connection->life.heard_at_ms;
  if (silent_ms < RD_PING_AFTER_MS) return silent_ms;
  int64_t quiet_ms = connection->transport->ops->silent_ms(connection->transport);
  return quiet_ms < silent_ms ? quiet_ms : silent_ms;
}

void rd_connection_stood_still(struct rd_connection *connection) {
  connection->life.heard_at_ms = rd_now_ms();
}

void rd_connection_choose(struct rd_connection *connection) {
  struct rd_error ignored; // whether it went out shows when the connection is used
  rd_life_signs_measure(&connection->life);
  (void)rd_connection_flush(connection, &ignored);
}

uint32_t rd_connection_rtt_us(const struct rd_connection *connection) {
  return connection->life.rtt_us;
}

uint64_t rd_connection_wire_bytes(const struct rd_connection *connection) {
  return connection->wire_bytes;
}

bool rd_connection_is_working(const struct rd_connection *connection) {
  if (connection->inbound != NULL && !rd_inbound_is_empty(connection->inbound)) return true;
  return connection->outbound != NULL && rd_outbound_is_working(connection->outbound) &&
         connection->transport->ops->released(connection->transport) == connection->accepted;
}

size_t rd_connection_data_most_bytes(const struct rd_connection *connection) {
  return connection->data_most_bytes;
}

size_t rd_connection_window_most_bytes(const struct rd_transport *transport) {
  size_t most_bytes = transport->ops->memory_most_bytes(transport);
  if (most_bytes == SIZE_MAX) return SIZE_MAX;
  return most_bytes > OUTGOING_BYTES ? most_bytes - OUTGOING_BYTES : 0;
}

// What is sealed is sent from the scratch memory.
size_t rd_connection_enroll_most_bytes(const struct rd_connection *connection) {
  return connection->agreement.sealed ? SIZE_MAX : connection->memory_left_bytes;
}

bool rd_connection_enroll(struct rd_connection *connection, const void *memory, size_t bytes, struct rd_error *error) {
  if (connection->agreement.sealed) return true;
  return enroll(connection, memory, bytes, error);
}

static bool enroll(struct rd_connection *connection, const void *memory, size_t bytes, struct rd_error *error) {
  if (!connection->transport->ops->enroll(connection->transport, memory, bytes, error)) return false;
  if (connection->memory_left_bytes != SIZE_MAX) connection->memory_left_bytes -= bytes;
  return true;
}

int rd_connection_send(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                       const unsigned char *payload, size_t bytes, struct rd_error *error) {
  int sent = send_frame(connection, type, offset, payload, bytes, error);
  if (sent == 0) connection->transport->ops->expect_releases(connection->transport, true);
  return sent;
}

bool rd_connection_flush(struct rd_connection *connection, struct rd_error *error) {
  struct rd_transport *transport = connection->transport;
  if (!transport->ops->flush(transport, error) || !offer(connection, error)) return false;
  return pay_life_signs(connection, error) && transport->ops->flush(transport, error);
}

bool rd_connection_drained(struct rd_connection *connection) {
  struct rd_transport *transport = connection->transport;
  bool in_work = connection->outbound != NULL && !rd_outbound_is_empty(connection->outbound);
  bool drained = !in_work && !connection->is_staged && transport->ops->released(transport) == connection->accepted;
  if (!drained) transport->ops->expect_releases(transport, true);
  return drained;
}

int rd_connection_receive(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error) {
  for (;;) {
    int taken = take_ready(connection, arrival, error);
    if (taken != 0) return taken;
    taken = take_message(connection, arrival, error);
    if (taken <= 0) return taken;
    bool held = false;
    if (!hold_back(connection, arrival, &held, error)) return -1;
    if (held) continue;
    if (!rd_life_signs_take(&connection->life, &arrival->frame, rd_now_ns())) return 1;
    rd_connection_give_back(connection, arrival);
  }
}

void rd_connection_quiet(struct rd_connection *connection) {
  connection->transport->ops->quiet(connection->transport);
}

void rd_connection_give_back(struct rd_connection *connection, const struct rd_arrival *arrival) {
  if (arrival->is_small)
    rd_slots_give(&connection->small, arrival->message.slot);
  else
    connection->transport->ops->give_back(connection->transport, &arrival->message);
  if (connection->inbound != NULL) rd_inbound_give_back(connection->inbound, arrival);
}

bool rd_connection_tick(struct rd_connection *connection, struct rd_error *error) {
  int64_t now_ms = rd_now_ms();
  if (rd_life_signs_tick(&connection->life, now_ms))
    return !connection->life.owes_ping || rd_connection_flush(connection, error);
  int64_t silent_ms = rd_connection_silent_ms(connection);
  if (silent_ms < connection->life.stall_timeout_ms) {
    connection->life.heard_at_ms = now_ms - silent_ms;
    return true;
  }
  rd_error_set(error, RD_CODE_PEER_STALLED, "nothing came from %s for %lld s", rd_connection_peer(connection),
               (long long)(now_ms - connection->life.heard_at_ms) / 1000);
  return false;
}

int rd_connection_timeout_ms(const struct rd_connection *connection) {
  return looks_again(connection) ? 0 : rd_life_signs_timeout_ms(&connection->life, rd_now_ms());
}

bool rd_connection_say_last(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                            const unsigned char *payload, size_t bytes, int64_t most_ms, struct rd_error *error) {
  int64_t until_ms = rd_now_ms() + most_ms;
  struct rd_arrival arrival;
  int sent = 0;
  connection->is_ending = true;
  for (;;) {
    if (sent == 0) sent = rd_connection_send(connection, type, offset, payload, bytes, error);
    if (sent < 0 || !rd_connection_flush(connection, error)) return false;
    int received;
    while ((received = rd_connection_receive(connection, &arrival, error)) > 0) {
      if (arrival.frame.type == RD_FRAME_BYE || arrival.frame.type == RD_FRAME_ABORT) return true;
      rd_connection_give_back(connection, &arrival);
    }
    int64_t left_ms = until_ms - rd_now_ms();
    if (received < 0) return false;
    if (left_ms <= 0) return true;
    rd_wait_fd(rd_connection_poll_fd(connection), rd_connection_poll_events(connection),
               looks_again(connection) ? 0 : (int)left_ms);
  }
}

int rd_connection_poll_fd(const struct rd_connection *connection) {
  return connection->transport->ops->poll_fd(connection->transport);
}

short rd_connection_poll_events(const struct rd_connection *connection) {
  return connection->transport->ops->poll_events(connection->transport);
}

int rd_connection_work_fd(const struct rd_connection *connection) {
  if (connection->outbound != NULL) return rd_outbound_poll_fd(connection->outbound);
  return connection->inbound != NULL ? rd_inbound_poll_fd(connection->inbound) : -1;
}

void rd_connection_worked(struct rd_connection *connection) {
  if (connection->outbound != NULL) rd_outbound_woken(connection->outbound);
  if (connection->inbound != NULL) rd_inbound_woken(connection->inbound);
}

const struct rd_agreement *rd_connection_agreement(const struct rd_connection *connection) {
  return &connection->agreement;
}

const char *rd_connection_transport(const struct rd_connection *connection) {
  return connection->transport->ops->name;
}

const char *rd_connection_cipher(const struct rd_connection *connection) {
  return connection->agreement.sealed ? connection->agreement.cipher_name : "none";
}

const char *rd_connection_local(const struct rd_connection *connection) {
  return connection->transport->ops->local_name(connection->transport);
}

const char *rd_connection_peer(const struct rd_connection *connection) {
  return connection->transport->ops->peer_name(connection->transport);
}

const char *rd_connection_device(const struct rd_connection *connection) {
  return connection->transport->ops->device_name(connection->transport);
}

static int send_frame(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                      const unsigned char *payload, size_t bytes, struct rd_error *error) {
  if (!offer(connection, error)) return -1;
  struct rd_frame frame = {.type = type, .epoch = rd_connection_epoch(connection), .offset = offset};
  if (type == RD_FRAME_DATA && connection->outbound != NULL)
    return send_data(connection, &frame, payload, bytes, error);
  bool waits = type == RD_FRAME_END && connection->outbound != NULL && !rd_outbound_is_empty(connection->outbound);
  struct outgoing *outgoing = connection->is_staged || waits ? NULL : free_outgoing(connection);
  if (outgoing == NULL) return 0;
  if (type == RD_FRAME_DATA) {
    rd_frame_encode(&frame, outgoing->header);
    stage(connection, outgoing, payload, bytes);
    connection->wire_bytes += RD_HEADER_BYTES + bytes;
  } else {
    if (!rd_seal_seal(connection->agreement.outgoing, &frame, payload, bytes, outgoing->header, outgoing->sealed,
                      error))
      return -1;
    stage(connection, outgoing, outgoing->sealed, bytes + RD_TAG_BYTES);
  }
  return offer(connection, error) ? 1 : -1;
}

// Without waiting for the descriptor.
static bool looks_again(const struct rd_connection *connection) {
  return connection->poll || connection->has_more;
}

static bool arm(struct rd_connection *connection, struct rd_error *error) {
  const struct rd_hello *mine = &connection->agreement.mine;
  const struct rd_window window = {.slots = mine->slots, .slot_bytes = mine->slot_bytes};
  struct rd_transport *transport = connection->transport;
  size_t most_bytes = transport->ops->memory_most_bytes(transport), used_bytes = rd_window_memory_bytes(&window);
  connection->memory_left_bytes = most_bytes > used_bytes ? most_bytes - used_bytes : 0;
  if (most_bytes == SIZE_MAX) connection->memory_left_bytes = SIZE_MAX;
  size_t payload_bytes =
      mine->slot_bytes > RD_CONTROL_PAYLOAD_MAX_BYTES ? mine->slot_bytes : RD_CONTROL_PAYLOAD_MAX_BYTES;
  return transport->ops->arm(transport, mine->slots + CONTROL_SLOTS, payload_bytes, error);
}

static bool make_outgoing(struct rd_connection *connection, struct rd_error *error) {
  connection->outgoing = (void *)make_memory(connection, OUTGOING_BYTES, error);
  return connection->outgoing != NULL;
}

// A receiver sends no DATA. What does not shrink goes from the ring, unless it is sealed: then half is the ring's.
static bool make_outbound(struct rd_connection *connection, const struct rd_connection_settings *settings,
                          struct rd_error *error) {
  const struct rd_agreement *agreement = &connection->agreement;
  size_t bytes = agreement->peer.slot_bytes;
  bool compresses = settings->compress_level > 0 && (agreement->peer.features & RD_FEATURE_ZSTD) != 0;
  connection->data_most_bytes = bytes;
  if (bytes == 0 || (!agreement->sealed && !compresses)) return true;
  struct rd_outbound_config config = {.seal = agreement->sealed ? agreement->outgoing : NULL,
                                      .level = compresses ? settings->compress_level : 0,
                                      .jobs = settings->jobs};
  size_t for_all_bytes = agreement->sealed ? connection->memory_left_bytes : connection->memory_left_bytes / 2;
  unsigned wanted = rd_outbound_scratch_wanted(settings->jobs);
  size_t fit = for_all_bytes / SCRATCH_GOOD_BYTES > SCRATCH_LEAST ? for_all_bytes / SCRATCH_GOOD_BYTES : SCRATCH_LEAST;
  config.scratch_count = fit < wanted ? (unsigned)fit : wanted;
  size_t most_bytes = for_all_bytes / config.scratch_count / PAGE_BYTES * PAGE_BYTES;
  if (bytes + RD_TAG_BYTES > most_bytes) bytes = most_bytes > 2 * PAGE_BYTES ? most_bytes - PAGE_BYTES : PAGE_BYTES;
  if (agreement->sealed) connection->data_most_bytes = bytes;
  config.most_bytes = connection->data_most_bytes;
  config.stride_bytes = rd_pages_round(bytes + RD_TAG_BYTES);
  config.scratch = connection->scratch = make_memory(connection, config.scratch_count * config.stride_bytes, error);
  if (connection->scratch == NULL) return false;
  connection->outbound = rd_outbound_create(&config, error);
  return connection->outbound != NULL;
}

// Any frame may be a small one.
static bool make_small(struct rd_connection *connection, struct rd_error *error) {
  const struct rd_hello *mine = &connection->agreement.mine;
  return mine->small_slots == 0 ||
         rd_slots_create(&connection->small, mine->slots + mine->small_slots, RD_SMALL_BYTES, error);
}

static bool make_inbound(struct rd_connection *connection, unsigned jobs, struct rd_error *error) {
  const struct rd_agreement *agreement = &connection->agreement;
  if (agreement->mine.slots == 0) return true;
  struct rd_inbound_config config = {.seal = agreement->sealed ? agreement->incoming : NULL,
                                     .jobs = jobs,
                                     .frames = agreement->mine.slots + agreement->mine.small_slots + CONTROL_SLOTS,
                                     .slot_bytes = agreement->mine.slot_bytes};
  connection->inbound = rd_inbound_create(&config, error);
  return connection->inbound != NULL;
}

// A sender has memory to send from, or seals into the scratch memory.
static bool has_room(const struct rd_connection *connection, struct rd_error *error) {
  if (connection->agreement.mine.slots > 0 || rd_connection_enroll_most_bytes(connection) >= RING_LEAST_BYTES)
    return true;
  rd_window_too_small(error);
  return false;
}

// So many bytes, whole pages, that the transport knows. NULL on failure.
static unsigned char *make_memory(struct rd_connection *connection, size_t bytes, struct rd_error *error) {
  if (bytes > connection->memory_left_bytes) {
    rd_window_too_small(error);
    return NULL;
  }
  unsigned char *memory = rd_pages_allocate(bytes);
  if (memory == NULL) rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
  if (memory != NULL && enroll(connection, memory, bytes, error)) return memory;
  free(memory);
  return NULL;
}

// PONG and PING, when they are owed and can be sent now.
static bool pay_life_signs(struct rd_connection *connection, struct rd_error *error) {
  struct rd_life_signs *life = &connection->life;
  if (life->owes_pong) {
    int sent = rd_connection_send(connection, RD_FRAME_PONG, life->pong_number, NULL, 0, error);
    if (sent < 0) return false;
    life->owes_pong = sent == 0;
  }
  if (life->owes_ping) {
    int sent = rd_connection_send(connection, RD_FRAME_PING, life->pings, NULL, 0, error);
    if (sent < 0) return false;
    if (sent > 0) rd_life_signs_pinged(life, rd_now_ns());
  }
  return true;
}

static int send_data(struct rd_connection *connection, const struct rd_frame *frame, const unsigned char *payload,
                     size_t bytes, struct rd_error *error) {
  uint64_t released = connection->transport->ops->released(connection->transport);
  int put = rd_outbound_put(connection->outbound, frame, payload, bytes, released, error);
  if (put <= 0) return put;
  return offer(connection, error) ? 1 : -1;
}

// Hands what is ready to the transport.
static bool offer(struct rd_connection *connection, struct rd_error *error) {
  return offer_staged(connection, error) && offer_outbound(connection, error);
}

static bool offer_staged(struct rd_connection *connection, struct rd_error *error) {
  if (!connection->is_staged) return true;
  int sent = offer_message(connection, connection->staged, error);
  connection->is_staged = sent == 0;
  return sent >= 0;
}

static bool offer_outbound(struct rd_connection *connection, struct rd_error *error) {
  struct iovec parts[2];
  while (connection->outbound != NULL && !connection->is_staged && !connection->is_ending) {
    if (free_outgoing(connection) == NULL) {
      connection->transport->ops->expect_releases(connection->transport, true);
      return true;
    }
    int next = rd_outbound_next(connection->outbound, parts, error);
    if (next <= 0) return next == 0;
    int sent = offer_message(connection, parts, error);
    if (sent <= 0) return sent == 0;
    rd_outbound_sent(connection->outbound, connection->accepted);
    connection->wire_bytes += parts[0].iov_len + parts[1].iov_len;
  }
  return true;
}

// As the transport's send(), but one refusal is followed by a flush and a second try.
static int offer_message(struct rd_connection *connection, const struct iovec parts[2], struct rd_error *error) {
  struct rd_transport *transport = connection->transport;
  int sent = transport->ops->send(transport, parts, 2, error);
  if (sent == 0) {
    if (!transport->ops->flush(transport, error)) return -1;
    sent = transport->ops->send(transport, parts, 2, error);
  }
  if (sent > 0) connection->accepted++;
  if (sent == 0) transport->ops->expect_releases(transport, true);
  return sent;
}

static struct outgoing *free_outgoing(struct rd_connection *connection) {
  uint64_t released = connection->transport->ops->released(connection->transport);
  if (connection->accepted - released >= OUTGOING_MOST) return NULL;
  return &connection->outgoing[connection->accepted % OUTGOING_MOST];
}

static void stage(struct rd_connection *connection, struct outgoing *outgoing, const unsigned char *body,
                  size_t bytes) {
  connection->staged[0] = (struct iovec){outgoing->header, RD_HEADER_BYTES};
  connection->staged[1] = (struct iovec){(unsigned char *)(uintptr_t)body, bytes};
  connection->is_staged = true;
}

// DATA that the threads are done with, and what waited for it.
static int take_ready(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error) {
  if (connection->inbound == NULL) return 0;
  int taken = rd_inbound_take(connection->inbound, arrival, error);
  if (taken != 0 || !connection->is_last_held || !rd_inbound_is_empty(connection->inbound)) return taken;
  connection->is_last_held = false;
  *arrival = connection->last;
  return 1;
}

// As rd_connection_receive(), the next one from the transport; DATA as it came.
static int take_message(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error) {
  struct rd_transport *transport = connection->transport;
  *arrival = (struct rd_arrival){0};
  connection->has_more = connection->received == FRAMES_AT_ONCE;
  int received = connection->has_more ? 0 : transport->ops->receive(transport, &arrival->message, error);
  connection->received = received > 0 ? connection->received + 1 : 0;
  if (received == 0) transport->ops->expect_releases(transport, false); // until somebody asks again
  if (received <= 0) return received;
  return open_frame(connection, arrival, error) ? 1 : -1;
}

// But for the seal of DATA.
static bool open_frame(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error) {
  const struct rd_message *message = &arrival->message;
  struct rd_frame *frame = &arrival->frame;
  if (!rd_frame_decode(message->data, message->bytes, frame, error)) return false;
  bool sealed = (frame->flags & RD_FLAG_SEALED) != 0;
  bool must_be_sealed = frame->type != RD_FRAME_DATA || connection->agreement.sealed;
  if (frame->type == RD_FRAME_HANDSHAKE || frame->epoch != rd_connection_epoch(connection) || sealed != must_be_sealed)
    return out_of_place(frame, error);
  if (frame->type != RD_FRAME_DATA) {
    return rd_seal_open(connection->agreement.incoming, message->data, message->bytes, frame, &arrival->payload,
                        &arrival->bytes, error);
  }
  connection->wire_bytes += message->bytes;
  arrival->payload = message->data + RD_HEADER_BYTES;
  arrival->bytes = message->bytes - RD_HEADER_BYTES;
  return connection->small.count == 0 || message->bytes > connection->small.message_bytes ||
         make_small_copy(connection, arrival, error);
}

// What is small waits elsewhere, and its slot is free for what comes.
static bool make_small_copy(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error) {
  unsigned slot;
  if (!rd_slots_take(&connection->small, &slot)) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the sender sent more than it was allowed to");
    return false;
  }
  unsigned char *copy = rd_slots_message(&connection->small, slot);
  memcpy(copy, arrival->message.data, arrival->message.bytes);
  connection->transport->ops->give_back(connection->transport, &arrival->message);
  arrival->message.data = copy;
  arrival->message.slot = slot;
  arrival->payload = copy + RD_HEADER_BYTES;
  arrival->is_small = true;
  return true;
}

// *held: it will come out of rd_connection_receive() later. Life signs are not held up by DATA.
static bool hold_back(struct rd_connection *connection, const struct rd_arrival *arrival, bool *held,
                      struct rd_error *error) {
  enum rd_frame_type type = arrival->frame.type;
  struct rd_inbound *inbound = connection->inbound;
  bool is_data = type == RD_FRAME_DATA, is_end = type == RD_FRAME_END;
  if (is_data && inbound == NULL) return out_of_place(&arrival->frame, error);
  if ((!is_data && !is_end) || inbound == NULL) return true;
  if (connection->is_last_held) return out_of_place(&arrival->frame, error); // nothing comes after END
  if (is_end) {
    *held = !rd_inbound_is_empty(inbound);
    connection->is_last_held = *held;
    connection->last = *arrival;
    return true;
  }
  if (connection->is_ending) {
    *held = true;
    rd_connection_give_back(connection, arrival);
    return true;
  }
  *held = arrival->frame.flags != 0 || !rd_inbound_is_empty(inbound);
  return !*held || rd_inbound_put(inbound, arrival, error);
}

static bool out_of_place(const struct rd_frame *frame, struct rd_error *error) {
  rd_error_set(error, RD_CODE_DATA_DAMAGED, "a frame of type %d came out of place", (int)frame->type);
  return false;
}
