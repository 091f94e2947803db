// SPDX-License-Identifier: Apache-2.0
#include "connection.h"

#include "io.h"
#include "life_signs.h"
#include "pages.h"
#include "window.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

// Messages whose headers may be on their way at a time.
#define OUTGOING_MOST 64u
// Sealed DATA needs memory of its own until the transport is done with it: few, so that they stay in the cache.
#define SCRATCH_MOST 4u
// Slots for frames other than DATA: they are given back at once, so one on its way and one in hand are enough.
#define CONTROL_SLOTS 2u
#define PAGE_BYTES 4096u
// Frames that are received in one go: after them it is the turn of whoever commands this end, however much comes.
#define FRAMES_AT_ONCE 256u
#define RING_LEAST_BYTES (2u * PAGE_BYTES)

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

  struct outgoing *outgoing;           // of message n: n % OUTGOING_MOST
  unsigned char *scratch;              // SCRATCH_MOST of scratch_bytes and a tag; NULL: DATA is not sealed here
  uint64_t scratch_free[SCRATCH_MOST]; // released() counts
  size_t scratch_bytes, scratch_stride_bytes;
  uint64_t accepted; // messages, by the transport
  // A message that was sealed, and so has its place in the sequence, but that the transport would not take yet.
  struct iovec staged[2];
  bool is_staged;

  unsigned received; // frames in this go
  bool has_more;     // there may be more to receive, of which the descriptor does not tell

  struct rd_life_signs life;
};

static int send_frame(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                      const unsigned char *payload, size_t bytes, struct rd_error *error);
static bool looks_again(const struct rd_connection *connection);
static bool arm(struct rd_connection *connection, struct rd_error *error);
static bool make_outgoing(struct rd_connection *connection, struct rd_error *error);
static bool make_scratch(struct rd_connection *connection, struct rd_error *error);
static bool has_room(const struct rd_connection *connection, struct rd_error *error);
static unsigned char *make_memory(struct rd_connection *connection, size_t bytes, struct rd_error *error);
static bool pay_life_signs(struct rd_connection *connection, struct rd_error *error);
static bool offer_staged(struct rd_connection *connection, struct rd_error *error);
static struct outgoing *free_outgoing(struct rd_connection *connection);
static bool stage_plain(struct rd_connection *connection, struct outgoing *outgoing, const struct rd_frame *frame,
                        const unsigned char *payload, size_t bytes);
static int stage_sealed(struct rd_connection *connection, struct outgoing *outgoing, struct rd_frame *frame,
                        const unsigned char *payload, size_t bytes, struct rd_error *error);
static unsigned char *take_scratch(struct rd_connection *connection);
static bool open_frame(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error);

struct rd_connection *rd_connection_create(struct rd_transport *transport, const struct rd_agreement *agreement,
                                           int64_t stall_timeout_ms, bool poll, struct rd_error *error) {
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
  connection->poll = poll;
  connection->accepted = transport->ops->released(transport); // those of the handshake
  rd_life_signs_start(&connection->life, stall_timeout_ms, rd_now_ms());
  transport->ops->expect_releases(transport, false);
  if (arm(connection, error) && make_outgoing(connection, error) && make_scratch(connection, error) &&
      has_room(connection, error))
    return connection;
  rd_connection_destroy(connection);
  return NULL;
}

void rd_connection_destroy(struct rd_connection *connection) {
  if (connection == NULL) return;
  rd_transport_destroy(connection->transport);
  rd_seal_destroy(connection->agreement.outgoing);
  rd_seal_destroy(connection->agreement.incoming);
  free(connection->outgoing);
  free(connection->scratch);
  free(connection);
}

void rd_connection_disconnect(struct rd_connection *connection) {
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

size_t rd_connection_data_most_bytes(const struct rd_connection *connection) {
  return connection->scratch != NULL ? connection->scratch_bytes : connection->agreement.peer.slot_bytes;
}

size_t rd_connection_window_most_bytes(const struct rd_transport *transport) {
  size_t most_bytes = transport->ops->memory_most_bytes(transport);
  if (most_bytes == SIZE_MAX) return SIZE_MAX;
  return most_bytes > OUTGOING_BYTES ? most_bytes - OUTGOING_BYTES : 0;
}

// What is sealed is sent from the scratch memory.
size_t rd_connection_enroll_most_bytes(const struct rd_connection *connection) {
  return connection->scratch != NULL ? SIZE_MAX : connection->memory_left_bytes;
}

bool rd_connection_enroll(struct rd_connection *connection, const void *memory, size_t bytes, struct rd_error *error) {
  if (connection->scratch != NULL) return true;
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
  if (!transport->ops->flush(transport, error) || !offer_staged(connection, error)) return false;
  return pay_life_signs(connection, error) && transport->ops->flush(transport, error);
}

bool rd_connection_drained(struct rd_connection *connection) {
  struct rd_transport *transport = connection->transport;
  bool drained = !connection->is_staged && transport->ops->released(transport) == connection->accepted;
  if (!drained) transport->ops->expect_releases(transport, true);
  return drained;
}

int rd_connection_receive(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error) {
  struct rd_transport *transport = connection->transport;
  for (;;) {
    connection->has_more = connection->received == FRAMES_AT_ONCE;
    int received = connection->has_more ? 0 : transport->ops->receive(transport, &arrival->message, error);
    connection->received = received > 0 ? connection->received + 1 : 0;
    if (received == 0) transport->ops->expect_releases(transport, false); // until somebody asks again
    if (received <= 0) return received;
    if (!open_frame(connection, arrival, error)) return -1;
    if (!rd_life_signs_take(&connection->life, &arrival->frame, rd_now_ns())) return 1;
    rd_connection_give_back(connection, &arrival->message);
  }
}

void rd_connection_quiet(struct rd_connection *connection) {
  connection->transport->ops->quiet(connection->transport);
}

void rd_connection_give_back(struct rd_connection *connection, const struct rd_message *message) {
  connection->transport->ops->give_back(connection->transport, message);
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

void rd_connection_say_last(struct rd_connection *connection, enum rd_frame_type type, uint64_t offset,
                            const unsigned char *payload, size_t bytes, int64_t most_ms) {
  int64_t until_ms = rd_now_ms() + most_ms;
  struct rd_arrival arrival;
  struct rd_error ignored;
  int sent = 0;
  for (;;) {
    if (sent == 0) sent = rd_connection_send(connection, type, offset, payload, bytes, &ignored);
    if (sent < 0 || !rd_connection_flush(connection, &ignored)) return;
    int received;
    while ((received = rd_connection_receive(connection, &arrival, &ignored)) > 0) {
      if (arrival.frame.type == RD_FRAME_BYE || arrival.frame.type == RD_FRAME_ABORT) return;
      rd_connection_give_back(connection, &arrival.message);
    }
    int64_t left_ms = until_ms - rd_now_ms();
    if (received < 0 || left_ms <= 0) return;
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
  if (!offer_staged(connection, error)) return -1;
  struct outgoing *outgoing = connection->is_staged ? NULL : free_outgoing(connection);
  if (outgoing == NULL) return 0;
  struct rd_frame frame = {.type = type, .epoch = rd_connection_epoch(connection), .offset = offset};
  if (type == RD_FRAME_DATA && !connection->agreement.sealed) {
    connection->is_staged = stage_plain(connection, outgoing, &frame, payload, bytes);
  } else {
    int staged = stage_sealed(connection, outgoing, &frame, payload, bytes, error);
    if (staged <= 0) return staged;
    connection->is_staged = true;
  }
  return offer_staged(connection, error) ? 1 : -1;
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

// A receiver sends no DATA.
static bool make_scratch(struct rd_connection *connection, struct rd_error *error) {
  size_t bytes = connection->agreement.peer.slot_bytes;
  if (!connection->agreement.sealed || bytes == 0) return true;
  size_t most_bytes = connection->memory_left_bytes / SCRATCH_MOST / PAGE_BYTES * PAGE_BYTES;
  if (bytes + RD_TAG_BYTES > most_bytes) bytes = most_bytes > 2 * PAGE_BYTES ? most_bytes - PAGE_BYTES : PAGE_BYTES;
  connection->scratch_bytes = bytes;
  connection->scratch_stride_bytes = rd_pages_round(bytes + RD_TAG_BYTES);
  connection->scratch = make_memory(connection, SCRATCH_MOST * connection->scratch_stride_bytes, error);
  return connection->scratch != NULL;
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
  if (memory != NULL && rd_connection_enroll(connection, memory, bytes, error)) return memory;
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

// Hands a staged message to the transport; one refusal is followed by a flush and a second try.
static bool offer_staged(struct rd_connection *connection, struct rd_error *error) {
  struct rd_transport *transport = connection->transport;
  for (int attempt = 0; connection->is_staged && attempt < 2; attempt++) {
    if (attempt > 0 && !transport->ops->flush(transport, error)) return false;
    int sent = transport->ops->send(transport, connection->staged, 2, error);
    if (sent < 0) return false;
    if (sent == 0) continue;
    connection->is_staged = false;
    connection->accepted++;
  }
  return true;
}

static struct outgoing *free_outgoing(struct rd_connection *connection) {
  uint64_t released = connection->transport->ops->released(connection->transport);
  if (connection->accepted - released >= OUTGOING_MOST) return NULL;
  return &connection->outgoing[connection->accepted % OUTGOING_MOST];
}

static bool stage_plain(struct rd_connection *connection, struct outgoing *outgoing, const struct rd_frame *frame,
                        const unsigned char *payload, size_t bytes) {
  rd_frame_encode(frame, outgoing->header);
  connection->staged[0] = (struct iovec){outgoing->header, RD_HEADER_BYTES};
  connection->staged[1] = (struct iovec){(unsigned char *)(uintptr_t)payload, bytes};
  return true;
}

// 1 staged, 0 no memory is free now, -1 failed.
static int stage_sealed(struct rd_connection *connection, struct outgoing *outgoing, struct rd_frame *frame,
                        const unsigned char *payload, size_t bytes, struct rd_error *error) {
  unsigned char *body = outgoing->sealed;
  if (frame->type == RD_FRAME_DATA) {
    if (bytes > connection->scratch_bytes) {
      rd_error_set(error, RD_CODE_INTERNAL, "no memory to seal %zu bytes in", bytes);
      return -1;
    }
    body = take_scratch(connection);
    if (body == NULL) return 0;
  }
  if (!rd_seal_seal(connection->agreement.outgoing, frame, payload, bytes, outgoing->header, body, error)) return -1;
  connection->staged[0] = (struct iovec){outgoing->header, RD_HEADER_BYTES};
  connection->staged[1] = (struct iovec){body, bytes + RD_TAG_BYTES};
  return 1;
}

// NULL: all are in use.
static unsigned char *take_scratch(struct rd_connection *connection) {
  uint64_t released = connection->transport->ops->released(connection->transport);
  for (unsigned i = 0; i < SCRATCH_MOST; i++) {
    if (connection->scratch_free[i] > released) continue;
    connection->scratch_free[i] = connection->accepted + 1;
    return connection->scratch + i * connection->scratch_stride_bytes;
  }
  return NULL;
}

static bool open_frame(struct rd_connection *connection, struct rd_arrival *arrival, struct rd_error *error) {
  const struct rd_message *message = &arrival->message;
  struct rd_frame *frame = &arrival->frame;
  if (!rd_frame_decode(message->data, message->bytes, frame, error)) return false;
  bool sealed = (frame->flags & RD_FLAG_SEALED) != 0;
  bool must_be_sealed = frame->type != RD_FRAME_DATA || connection->agreement.sealed;
  if (frame->type == RD_FRAME_HANDSHAKE || frame->epoch != rd_connection_epoch(connection) ||
      sealed != must_be_sealed) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "a frame of type %d came out of place", (int)frame->type);
    return false;
  }
  if (sealed) {
    return rd_seal_open(connection->agreement.incoming, message->data, message->bytes, frame, &arrival->payload,
                        &arrival->bytes, error);
  }
  arrival->payload = message->data + RD_HEADER_BYTES;
  arrival->bytes = message->bytes - RD_HEADER_BYTES;
  return true;
}
