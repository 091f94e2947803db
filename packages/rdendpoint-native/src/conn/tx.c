// SPDX-License-Identifier: Apache-2.0
#include "conn/tx.h"

#include "base/pages.h"

#include <stdlib.h>

// Messages in flight at a time.
#define OUTGOING_MAX 64u
// Pieces of scratch memory if a device has little memory.
#define SCRATCH_MIN 2u
#define SCRATCH_GOOD_BYTES (64u << 10)

struct rd_outgoing {
  unsigned char header[RD_HEADER_BYTES];
  unsigned char sealed[RD_CONTROL_PAYLOAD_MAX_BYTES + RD_TAG_BYTES];
};

static bool all_released(const struct rd_tx *tx);
static bool make_encoder(struct rd_tx *tx, struct rd_registered *registered, const struct rd_agreement *agreement,
                         int compress_level, unsigned jobs, struct rd_error *error);
static bool make_scratch(struct rd_tx *tx, struct rd_registered *registered, bool seals,
                         struct rd_encoder_config *config, struct rd_error *error);
static enum rd_outcome send_data(struct rd_tx *tx, const struct rd_frame *frame, const unsigned char *payload,
                                 size_t bytes, struct rd_error *error);
static struct rd_outgoing *free_outgoing(const struct rd_tx *tx);
static void stage(struct rd_tx *tx, struct rd_outgoing *outgoing, const unsigned char *body, size_t bytes);
static bool offer_staged(struct rd_tx *tx, struct rd_error *error);
static bool offer_encoded(struct rd_tx *tx, struct rd_error *error);
static enum rd_outcome offer_message(struct rd_tx *tx, const struct iovec *parts, int count, struct rd_error *error);

bool rd_tx_begin(struct rd_tx *tx, struct rd_registered *registered, const struct rd_agreement *agreement,
                 int compress_level, unsigned jobs, struct rd_error *error) {
  struct rd_transport *transport = registered->transport;
  *tx = (struct rd_tx){.transport = transport,
                       .seal = agreement->outgoing,
                       .epoch = agreement->mine.epoch,
                       .accepted = transport->ops->released(transport)}; // those of the handshake
  tx->outgoing = (void *)rd_registered_make(registered, rd_tx_own_bytes(), error);
  return tx->outgoing != NULL && make_encoder(tx, registered, agreement, compress_level, jobs, error);
}

void rd_tx_stop(struct rd_tx *tx) {
  rd_encoder_destroy(tx->encoder);
  tx->encoder = NULL;
}

void rd_tx_free(struct rd_tx *tx) {
  free(tx->outgoing);
  free(tx->scratch);
}

size_t rd_tx_own_bytes(void) {
  return rd_pages_round(OUTGOING_MAX * sizeof(struct rd_outgoing));
}

enum rd_outcome rd_tx_send(struct rd_tx *tx, enum rd_frame_type type, uint64_t offset, const unsigned char *payload,
                           size_t bytes, struct rd_error *error) {
  if (!rd_tx_offer(tx, error)) return RD_OUTCOME_FAILED;
  struct rd_frame frame = {.type = type, .epoch = tx->epoch, .offset = offset};
  if (type == RD_FRAME_DATA && tx->encoder != NULL) return send_data(tx, &frame, payload, bytes, error);
  bool waits = type == RD_FRAME_END && tx->encoder != NULL && !rd_encoder_is_empty(tx->encoder);
  struct rd_outgoing *outgoing = tx->is_staged || waits ? NULL : free_outgoing(tx);
  if (outgoing == NULL) return RD_OUTCOME_AGAIN;
  if (type == RD_FRAME_DATA) {
    rd_frame_encode(&frame, outgoing->header);
    stage(tx, outgoing, payload, bytes);
    tx->wire_bytes += RD_HEADER_BYTES + bytes;
  } else {
    if (!rd_seal_seal(tx->seal, &frame, payload, bytes, outgoing->header, outgoing->sealed, error))
      return RD_OUTCOME_FAILED;
    stage(tx, outgoing, outgoing->sealed, bytes + RD_TAG_BYTES);
  }
  return rd_tx_offer(tx, error) ? RD_OUTCOME_DONE : RD_OUTCOME_FAILED;
}

bool rd_tx_offer(struct rd_tx *tx, struct rd_error *error) {
  return offer_staged(tx, error) && offer_encoded(tx, error);
}

bool rd_tx_is_drained(const struct rd_tx *tx) {
  bool in_work = tx->encoder != NULL && !rd_encoder_is_empty(tx->encoder);
  return !in_work && !tx->is_staged && all_released(tx);
}

bool rd_tx_is_working(const struct rd_tx *tx) {
  return tx->encoder != NULL && rd_encoder_is_working(tx->encoder) && all_released(tx);
}

void rd_tx_close(struct rd_tx *tx) {
  tx->is_closed = true;
}

static bool all_released(const struct rd_tx *tx) {
  return tx->transport->ops->released(tx->transport) == tx->accepted;
}

// Creates no encoder for a receiver, which sends no DATA.
static bool make_encoder(struct rd_tx *tx, struct rd_registered *registered, const struct rd_agreement *agreement,
                         int compress_level, unsigned jobs, struct rd_error *error) {
  bool seals = agreement->protection == RD_PROTECTION_SEAL, protects = agreement->protection != RD_PROTECTION_NONE;
  struct rd_encoder_config config = {.protection = agreement->protection,
                                     .seal = protects ? agreement->outgoing : NULL,
                                     .level = agreement->compresses ? compress_level : 0,
                                     .jobs = jobs,
                                     // Each further lane may have a message that waits for it.
                                     .scratch_count = rd_encoder_scratch_wanted(jobs) + agreement->lanes - 1};
  tx->data_most_bytes = agreement->peer.slot_bytes;
  if (tx->data_most_bytes == 0 || (!protects && config.level == 0)) return true;
  bool copies = seals || config.level > 0;
  if (copies && !make_scratch(tx, registered, seals, &config, error)) return false;
  config.most_bytes = tx->data_most_bytes;
  tx->encoder = rd_encoder_create(&config, error);
  return tx->encoder != NULL;
}

// Unless DATA is sealed, blocks that do not shrink are sent from the ring, so half of the memory is left for the ring.
static bool make_scratch(struct rd_tx *tx, struct rd_registered *registered, bool seals,
                         struct rd_encoder_config *config, struct rd_error *error) {
  size_t bytes = tx->data_most_bytes;
  size_t for_all_bytes = seals ? registered->left_bytes : registered->left_bytes / 2;
  size_t fit = for_all_bytes / SCRATCH_GOOD_BYTES > SCRATCH_MIN ? for_all_bytes / SCRATCH_GOOD_BYTES : SCRATCH_MIN;
  if (fit < config->scratch_count) config->scratch_count = (unsigned)fit;
  size_t page = rd_page_bytes(), most_bytes = for_all_bytes / config->scratch_count / page * page;
  if (bytes + RD_TAG_BYTES > most_bytes) bytes = most_bytes >= 2 * page ? most_bytes - page : page;
  if (seals) tx->data_most_bytes = bytes;
  config->stride_bytes = rd_pages_round(bytes + RD_TAG_BYTES);
  tx->scratch = rd_registered_make(registered, config->scratch_count * config->stride_bytes, error);
  config->scratch = tx->scratch;
  return tx->scratch != NULL;
}

static enum rd_outcome send_data(struct rd_tx *tx, const struct rd_frame *frame, const unsigned char *payload,
                                 size_t bytes, struct rd_error *error) {
  uint64_t released = tx->transport->ops->released(tx->transport);
  enum rd_outcome put = rd_encoder_put(tx->encoder, frame, payload, bytes, released, error);
  if (put != RD_OUTCOME_DONE) return put;
  return rd_tx_offer(tx, error) ? RD_OUTCOME_DONE : RD_OUTCOME_FAILED;
}

static struct rd_outgoing *free_outgoing(const struct rd_tx *tx) {
  uint64_t released = tx->transport->ops->released(tx->transport);
  if (tx->accepted - released >= OUTGOING_MAX) return NULL;
  return &tx->outgoing[tx->accepted % OUTGOING_MAX];
}

static void stage(struct rd_tx *tx, struct rd_outgoing *outgoing, const unsigned char *body, size_t bytes) {
  tx->staged[0] = (struct iovec){outgoing->header, RD_HEADER_BYTES};
  tx->staged[1] = (struct iovec){(unsigned char *)(uintptr_t)body, bytes};
  tx->is_staged = true;
}

static bool offer_staged(struct rd_tx *tx, struct rd_error *error) {
  if (!tx->is_staged) return true;
  enum rd_outcome sent = offer_message(tx, tx->staged, 2, error);
  tx->is_staged = sent == RD_OUTCOME_AGAIN;
  return sent != RD_OUTCOME_FAILED;
}

static bool offer_encoded(struct rd_tx *tx, struct rd_error *error) {
  struct iovec parts[RD_ENCODER_PARTS];
  while (tx->encoder != NULL && !tx->is_staged && !tx->is_closed) {
    if (free_outgoing(tx) == NULL) {
      tx->transport->ops->expect_releases(tx->transport, true);
      return true;
    }
    enum rd_outcome next = rd_encoder_next(tx->encoder, parts, error);
    if (next != RD_OUTCOME_DONE) return next == RD_OUTCOME_AGAIN;
    enum rd_outcome sent = offer_message(tx, parts, RD_ENCODER_PARTS, error);
    if (sent != RD_OUTCOME_DONE) return sent == RD_OUTCOME_AGAIN;
    rd_encoder_sent(tx->encoder, tx->accepted);
    for (int i = 0; i < RD_ENCODER_PARTS; i++) tx->wire_bytes += parts[i].iov_len;
  }
  return true;
}

// Like the transport's send(), but after AGAIN flushes and tries a second time.
static enum rd_outcome offer_message(struct rd_tx *tx, const struct iovec *parts, int count, struct rd_error *error) {
  struct rd_transport *transport = tx->transport;
  enum rd_outcome sent = transport->ops->send(transport, parts, count, error);
  if (sent == RD_OUTCOME_AGAIN) {
    if (!transport->ops->flush(transport, error)) return RD_OUTCOME_FAILED;
    sent = transport->ops->send(transport, parts, count, error);
  }
  if (sent == RD_OUTCOME_DONE) tx->accepted++;
  if (sent == RD_OUTCOME_AGAIN) transport->ops->expect_releases(transport, true);
  return sent;
}
