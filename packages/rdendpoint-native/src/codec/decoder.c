// SPDX-License-Identifier: Apache-2.0
#include "codec/decoder.h"

#include "base/pages.h"
#include "codec/codec_threads.h"

#include <string.h>

// Buffers for blocks that are done, or being written.
#define PLAINS_BESIDE_THREADS 3u
#define PLAINS_MAX (RD_POOL_THREADS_MAX + PLAINS_BESIDE_THREADS)

struct entry {
  struct rd_pool_job job;
  struct rd_rx_frame rx_frame;
  struct rd_frame_key turn;
  bool tagged, packed;
  unsigned char *plain; // the buffer that it is decompressed into
  size_t plain_bytes;
  bool good;
  struct rd_error error;
};

struct rd_decoder {
  struct rd_decoder_config config;
  struct rd_codec_threads threads;
  // Each buffer is allocated when it is first used.
  unsigned char *plains[PLAINS_MAX];
  bool plain_used[PLAINS_MAX];
  uint64_t put, submitted, taken; // numbers of frames; [submitted, put) wait for a buffer to be decompressed into
  struct entry entries[];         // entry of frame n: n % config.frames
};

static bool submit(struct rd_decoder *decoder, struct rd_error *error);
static enum rd_outcome take_plain(struct rd_decoder *decoder, struct entry *entry, struct rd_error *error);
static void make_block(struct rd_pool_job *job, void *contexts);
static struct entry *entry_of(struct rd_decoder *decoder, uint64_t number);

struct rd_decoder *rd_decoder_create(const struct rd_decoder_config *config, struct rd_error *error) {
  struct rd_decoder *decoder = calloc(1, sizeof *decoder + config->frames * sizeof *decoder->entries);
  if (decoder == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a connection");
    return NULL;
  }
  decoder->config = *config;
  if (rd_codec_threads_create(&decoder->threads, config->jobs, config->seal, 0, true, make_block, error))
    return decoder;
  free(decoder);
  return NULL;
}

void rd_decoder_stop(struct rd_decoder *decoder) {
  rd_codec_threads_stop(&decoder->threads);
}

void rd_decoder_destroy(struct rd_decoder *decoder) {
  if (decoder == NULL) return;
  rd_codec_threads_destroy(&decoder->threads);
  for (unsigned i = 0; i < PLAINS_MAX; i++) free(decoder->plains[i]);
  explicit_bzero(decoder->entries, decoder->config.frames * sizeof *decoder->entries);
  free(decoder);
}

bool rd_decoder_put(struct rd_decoder *decoder, const struct rd_rx_frame *rx_frame, struct rd_error *error) {
  if (decoder->put - decoder->taken == decoder->config.frames) {
    rd_error_set(error, RD_CODE_DATA_DAMAGED, "the sender exceeded its credit");
    return false;
  }
  struct entry *entry = entry_of(decoder, decoder->put);
  *entry = (struct entry){.rx_frame = *rx_frame};
  entry->tagged = rd_frame_has_tag(&rx_frame->header);
  entry->packed = (rx_frame->header.flags & RD_FLAG_COMPRESSED) != 0;
  if (entry->tagged &&
      !rd_seal_expect(decoder->config.seal, &rx_frame->header, rx_frame->message.bytes, &entry->turn, error))
    return false;
  decoder->put++;
  return true;
}

enum rd_outcome rd_decoder_take(struct rd_decoder *decoder, struct rd_rx_frame *rx_frame, struct rd_error *error) {
  if (!submit(decoder, error)) return RD_OUTCOME_FAILED;
  struct rd_pool_job *job = rd_pool_take(decoder->threads.pool);
  if (job == NULL) return RD_OUTCOME_AGAIN;
  const struct entry *entry = (const struct entry *)(const void *)job;
  decoder->taken++;
  if (!entry->good) *error = entry->error;
  if (!entry->good) return RD_OUTCOME_FAILED;
  *rx_frame = entry->rx_frame;
  return RD_OUTCOME_DONE;
}

bool rd_decoder_is_empty(const struct rd_decoder *decoder) {
  return decoder->put == decoder->taken;
}

void rd_decoder_give_back(struct rd_decoder *decoder, const struct rd_rx_frame *rx_frame) {
  if (rx_frame->plain > 0) decoder->plain_used[rx_frame->plain - 1] = false;
}

int rd_decoder_poll_fd(const struct rd_decoder *decoder) {
  return rd_pool_poll_fd(decoder->threads.pool);
}

void rd_decoder_woken(struct rd_decoder *decoder) {
  rd_pool_woken(decoder->threads.pool);
}

// Submits frames that have, or do not need, a buffer to be decompressed into.
static bool submit(struct rd_decoder *decoder, struct rd_error *error) {
  while (decoder->submitted != decoder->put && rd_pool_pending(decoder->threads.pool) < RD_POOL_JOBS_MAX) {
    struct entry *entry = entry_of(decoder, decoder->submitted);
    enum rd_outcome plain = entry->packed ? take_plain(decoder, entry, error) : RD_OUTCOME_DONE;
    if (plain != RD_OUTCOME_DONE) return plain == RD_OUTCOME_AGAIN;
    decoder->submitted++;
    rd_codec_threads_submit(&decoder->threads, &entry->job, entry->packed, entry->rx_frame.message.bytes);
  }
  return true;
}

// AGAIN: no buffer is free.
static enum rd_outcome take_plain(struct rd_decoder *decoder, struct entry *entry, struct rd_error *error) {
  unsigned i = 0, most = decoder->threads.count + PLAINS_BESIDE_THREADS;
  while (i < most && decoder->plain_used[i]) i++;
  if (i == most) return RD_OUTCOME_AGAIN;
  if (decoder->plains[i] == NULL) decoder->plains[i] = rd_pages_allocate(decoder->config.slot_bytes);
  if (decoder->plains[i] == NULL) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory to decompress");
    return RD_OUTCOME_FAILED;
  }
  decoder->plain_used[i] = true;
  entry->rx_frame.plain = i + 1;
  entry->plain = decoder->plains[i];
  entry->plain_bytes = decoder->config.slot_bytes;
  return RD_OUTCOME_DONE;
}

// Runs on any thread.
static void make_block(struct rd_pool_job *job, void *contexts) {
  struct entry *entry = (struct entry *)(void *)job;
  struct rd_rx_frame *rx_frame = &entry->rx_frame;
  const struct rd_codec_context *own = contexts;
  rx_frame->payload = rx_frame->message.data + RD_HEADER_BYTES;
  rx_frame->bytes = rx_frame->message.bytes - RD_HEADER_BYTES;
  entry->good =
      !entry->tagged || rd_sealer_open(own->sealer, &entry->turn, rx_frame->message.data, rx_frame->message.bytes,
                                       &rx_frame->payload, &rx_frame->bytes, &entry->error);
  explicit_bzero(&entry->turn, sizeof entry->turn);
  if (!entry->good || !entry->packed) return;
  entry->good = rd_unpack(own->unpacker, rx_frame->payload, rx_frame->bytes, entry->plain, entry->plain_bytes,
                          &rx_frame->bytes, &entry->error);
  rx_frame->payload = entry->plain;
}

static struct entry *entry_of(struct rd_decoder *decoder, uint64_t number) {
  return &decoder->entries[number % decoder->config.frames];
}
