// SPDX-License-Identifier: Apache-2.0
#include "departures.h"

#include "pages.h"

#include <stdlib.h>

// Messages whose headers may be on their way at a time.
#define OUTGOING_MOST 64u
#define PAGE_BYTES 4096u
// Where a device has little memory: pieces that DATA is compressed and sealed in.
#define SCRATCH_LEAST 2u
#define SCRATCH_GOOD_BYTES (64u << 10)

struct rd_outgoing {
  unsigned char header[RD_HEADER_BYTES];
  unsigned char sealed[RD_CONTROL_PAYLOAD_MAX_BYTES + RD_TAG_BYTES];
};

static bool all_released(const struct rd_departures *departures);
static bool make_outbound(struct rd_departures *departures, struct rd_enrolled *enrolled,
                          const struct rd_agreement *agreement, int compress_level, unsigned jobs,
                          struct rd_error *error);
static bool make_scratch(struct rd_departures *departures, struct rd_enrolled *enrolled, bool seals,
                         struct rd_outbound_config *config, struct rd_error *error);
static int send_data(struct rd_departures *departures, const struct rd_frame *frame, const unsigned char *payload,
                     size_t bytes, struct rd_error *error);
static struct rd_outgoing *free_outgoing(const struct rd_departures *departures);
static void stage(struct rd_departures *departures, struct rd_outgoing *outgoing, const unsigned char *body,
                  size_t bytes);
static bool offer_staged(struct rd_departures *departures, struct rd_error *error);
static bool offer_outbound(struct rd_departures *departures, struct rd_error *error);
static int offer_message(struct rd_departures *departures, const struct iovec *parts, int count,
                         struct rd_error *error);

bool rd_departures_begin(struct rd_departures *departures, struct rd_enrolled *enrolled,
                         const struct rd_agreement *agreement, int compress_level, unsigned jobs,
                         struct rd_error *error) {
  struct rd_transport *transport = enrolled->transport;
  *departures = (struct rd_departures){.transport = transport,
                                       .seal = agreement->outgoing,
                                       .epoch = agreement->mine.epoch,
                                       .accepted = transport->ops->released(transport)}; // those of the handshake
  departures->outgoing = (void *)rd_enrolled_make(enrolled, rd_departures_own_bytes(), error);
  return departures->outgoing != NULL && make_outbound(departures, enrolled, agreement, compress_level, jobs, error);
}

void rd_departures_stop(struct rd_departures *departures) {
  rd_outbound_destroy(departures->outbound);
  departures->outbound = NULL;
}

void rd_departures_free(struct rd_departures *departures) {
  free(departures->outgoing);
  free(departures->scratch);
}

size_t rd_departures_own_bytes(void) {
  return rd_pages_round(OUTGOING_MOST * sizeof(struct rd_outgoing));
}

int rd_departures_send(struct rd_departures *departures, enum rd_frame_type type, uint64_t offset,
                       const unsigned char *payload, size_t bytes, struct rd_error *error) {
  if (!rd_departures_offer(departures, error)) return -1;
  struct rd_frame frame = {.type = type, .epoch = departures->epoch, .offset = offset};
  if (type == RD_FRAME_DATA && departures->outbound != NULL)
    return send_data(departures, &frame, payload, bytes, error);
  bool waits = type == RD_FRAME_END && departures->outbound != NULL && !rd_outbound_is_empty(departures->outbound);
  struct rd_outgoing *outgoing = departures->is_staged || waits ? NULL : free_outgoing(departures);
  if (outgoing == NULL) return 0;
  if (type == RD_FRAME_DATA) {
    rd_frame_encode(&frame, outgoing->header);
    stage(departures, outgoing, payload, bytes);
    departures->wire_bytes += RD_HEADER_BYTES + bytes;
  } else {
    if (!rd_seal_seal(departures->seal, &frame, payload, bytes, outgoing->header, outgoing->sealed, error)) return -1;
    stage(departures, outgoing, outgoing->sealed, bytes + RD_TAG_BYTES);
  }
  return rd_departures_offer(departures, error) ? 1 : -1;
}

bool rd_departures_offer(struct rd_departures *departures, struct rd_error *error) {
  return offer_staged(departures, error) && offer_outbound(departures, error);
}

bool rd_departures_are_drained(const struct rd_departures *departures) {
  bool in_work = departures->outbound != NULL && !rd_outbound_is_empty(departures->outbound);
  return !in_work && !departures->is_staged && all_released(departures);
}

bool rd_departures_are_in_work(const struct rd_departures *departures) {
  return departures->outbound != NULL && rd_outbound_is_working(departures->outbound) && all_released(departures);
}

void rd_departures_close(struct rd_departures *departures) {
  departures->is_closed = true;
}

static bool all_released(const struct rd_departures *departures) {
  return departures->transport->ops->released(departures->transport) == departures->accepted;
}

// A receiver sends no DATA.
static bool make_outbound(struct rd_departures *departures, struct rd_enrolled *enrolled,
                          const struct rd_agreement *agreement, int compress_level, unsigned jobs,
                          struct rd_error *error) {
  bool seals = agreement->protection == RD_PROTECTION_SEAL, protects = agreement->protection != RD_PROTECTION_NONE;
  struct rd_outbound_config config = {.protection = agreement->protection,
                                      .seal = protects ? agreement->outgoing : NULL,
                                      .level = agreement->compresses ? compress_level : 0,
                                      .jobs = jobs,
                                      .scratch_count = rd_outbound_scratch_wanted(jobs)};
  departures->data_most_bytes = agreement->peer.slot_bytes;
  if (departures->data_most_bytes == 0 || (!protects && config.level == 0)) return true;
  bool copies = seals || config.level > 0;
  if (copies && !make_scratch(departures, enrolled, seals, &config, error)) return false;
  config.most_bytes = departures->data_most_bytes;
  departures->outbound = rd_outbound_create(&config, error);
  return departures->outbound != NULL;
}

// What does not shrink goes from the ring, unless it is sealed: then half is the ring's.
static bool make_scratch(struct rd_departures *departures, struct rd_enrolled *enrolled, bool seals,
                         struct rd_outbound_config *config, struct rd_error *error) {
  size_t bytes = departures->data_most_bytes;
  size_t for_all_bytes = seals ? enrolled->left_bytes : enrolled->left_bytes / 2;
  size_t fit = for_all_bytes / SCRATCH_GOOD_BYTES > SCRATCH_LEAST ? for_all_bytes / SCRATCH_GOOD_BYTES : SCRATCH_LEAST;
  if (fit < config->scratch_count) config->scratch_count = (unsigned)fit;
  size_t most_bytes = for_all_bytes / config->scratch_count / PAGE_BYTES * PAGE_BYTES;
  if (bytes + RD_TAG_BYTES > most_bytes) bytes = most_bytes > 2 * PAGE_BYTES ? most_bytes - PAGE_BYTES : PAGE_BYTES;
  if (seals) departures->data_most_bytes = bytes;
  config->stride_bytes = rd_pages_round(bytes + RD_TAG_BYTES);
  departures->scratch = rd_enrolled_make(enrolled, config->scratch_count * config->stride_bytes, error);
  config->scratch = departures->scratch;
  return departures->scratch != NULL;
}

static int send_data(struct rd_departures *departures, const struct rd_frame *frame, const unsigned char *payload,
                     size_t bytes, struct rd_error *error) {
  uint64_t released = departures->transport->ops->released(departures->transport);
  int put = rd_outbound_put(departures->outbound, frame, payload, bytes, released, error);
  if (put <= 0) return put;
  return rd_departures_offer(departures, error) ? 1 : -1;
}

static struct rd_outgoing *free_outgoing(const struct rd_departures *departures) {
  uint64_t released = departures->transport->ops->released(departures->transport);
  if (departures->accepted - released >= OUTGOING_MOST) return NULL;
  return &departures->outgoing[departures->accepted % OUTGOING_MOST];
}

static void stage(struct rd_departures *departures, struct rd_outgoing *outgoing, const unsigned char *body,
                  size_t bytes) {
  departures->staged[0] = (struct iovec){outgoing->header, RD_HEADER_BYTES};
  departures->staged[1] = (struct iovec){(unsigned char *)(uintptr_t)body, bytes};
  departures->is_staged = true;
}

static bool offer_staged(struct rd_departures *departures, struct rd_error *error) {
  if (!departures->is_staged) return true;
  int sent = offer_message(departures, departures->staged, 2, error);
  departures->is_staged = sent == 0;
  return sent >= 0;
}

static bool offer_outbound(struct rd_departures *departures, struct rd_error *error) {
  struct iovec parts[RD_OUTBOUND_PARTS];
  while (departures->outbound != NULL && !departures->is_staged && !departures->is_closed) {
    if (free_outgoing(departures) == NULL) {
      departures->transport->ops->expect_releases(departures->transport, true);
      return true;
    }
    int next = rd_outbound_next(departures->outbound, parts, error);
    if (next <= 0) return next == 0;
    int sent = offer_message(departures, parts, RD_OUTBOUND_PARTS, error);
    if (sent <= 0) return sent == 0;
    rd_outbound_sent(departures->outbound, departures->accepted);
    for (int i = 0; i < RD_OUTBOUND_PARTS; i++) departures->wire_bytes += parts[i].iov_len;
  }
  return true;
}

// As the transport's send(), but one refusal is followed by a flush and a second try.
static int offer_message(struct rd_departures *departures, const struct iovec *parts, int count,
                         struct rd_error *error) {
  struct rd_transport *transport = departures->transport;
  int sent = transport->ops->send(transport, parts, count, error);
  if (sent == 0) {
    if (!transport->ops->flush(transport, error)) return -1;
    sent = transport->ops->send(transport, parts, count, error);
  }
  if (sent > 0) departures->accepted++;
  if (sent == 0) transport->ops->expect_releases(transport, true);
  return sent;
}
