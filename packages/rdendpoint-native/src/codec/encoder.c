// SPDX-License-Identifier: Apache-2.0
#include "codec/encoder.h"

#include "base/memory.h"
#include "codec/codec_threads.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Scratch memory for blocks that are done, or being sent: little, so that it stays in the cache.
#define BLOCKS_BESIDE_THREADS 3u

struct block {
  struct rd_pool_job job;
  struct rd_frame frame;
  struct rd_frame_key turn;
  const unsigned char *bytes; // in the ring
  size_t count;
  enum rd_protection protection;
  bool packs;
  unsigned char *scratch;
  size_t scratch_bytes;
  uint64_t free_at; // the count of released messages at which it is free; UINT64_MAX: not sent yet

  // The result.
  unsigned char header[RD_HEADER_BYTES], tag[RD_TAG_BYTES];
  const unsigned char *body;
  size_t body_bytes;
  bool shrank, good;
  struct rd_error error;
};

struct rd_encoder {
  struct rd_encoder_config config;
  struct rd_compress_policy shrinking;
  struct rd_codec_threads threads;
  struct block *next; // returned by the pool and not sent yet; NULL: none
  unsigned count;
  struct block blocks[];
};

static struct block *free_block(struct rd_encoder *encoder, uint64_t released);
static void make_message(struct rd_pool_job *job, void *contexts);
static bool protect(struct block *block, struct rd_sealer *sealer);
static size_t pack(struct block *block, struct rd_packer *packer);

unsigned rd_encoder_scratch_wanted(unsigned jobs) {
  return rd_codec_threads_count(jobs) + BLOCKS_BESIDE_THREADS;
}

struct rd_encoder *rd_encoder_create(const struct rd_encoder_config *config, struct rd_error *error) {
  unsigned count = config->scratch_count;
  struct rd_encoder *encoder = rd_memory_new(1, sizeof *encoder + count * sizeof *encoder->blocks);
  encoder->config = *config;
  encoder->count = count;
  for (unsigned i = 0; i < count && config->scratch != NULL; i++) {
    encoder->blocks[i].scratch = config->scratch + i * config->stride_bytes;
    encoder->blocks[i].scratch_bytes = config->stride_bytes - RD_TAG_BYTES;
  }
  if (rd_codec_threads_create(&encoder->threads, config->jobs, config->seal, config->level, false, make_message, error))
    return encoder;
  free(encoder);
  return NULL;
}

void rd_encoder_destroy(struct rd_encoder *encoder) {
  if (encoder == NULL) return;
  rd_codec_threads_destroy(&encoder->threads);
  explicit_bzero(encoder->blocks, encoder->count * sizeof *encoder->blocks);
  free(encoder);
}

enum rd_outcome rd_encoder_put(struct rd_encoder *encoder, const struct rd_frame *frame, const unsigned char *bytes,
                               size_t count, uint64_t released, struct rd_error *error) {
  struct block *block = free_block(encoder, released);
  if (block == NULL) return RD_OUTCOME_AGAIN;
  if (count > encoder->config.most_bytes) {
    rd_error_set(error, RD_CODE_INTERNAL, "no memory for a frame of %zu bytes", count);
    return RD_OUTCOME_FAILED;
  }
  block->frame = *frame;
  block->bytes = bytes;
  block->count = count;
  block->protection = encoder->config.protection;
  block->packs = encoder->config.level > 0 && rd_compress_policy_tries(&encoder->shrinking);
  block->shrank = false;
  block->free_at = UINT64_MAX;
  bool protects = block->protection != RD_PROTECTION_NONE;
  block->frame.flags |= rd_protection_flag(block->protection);
  if (protects && !rd_seal_next(encoder->config.seal, &block->frame, &block->turn, error)) return RD_OUTCOME_FAILED;
  rd_codec_threads_submit(&encoder->threads, &block->job, block->packs, count);
  return RD_OUTCOME_DONE;
}

enum rd_outcome rd_encoder_next(struct rd_encoder *encoder, struct iovec parts[RD_ENCODER_PARTS],
                                struct rd_error *error) {
  if (encoder->next == NULL) {
    struct rd_pool_job *job = rd_pool_take(encoder->threads.pool);
    if (job == NULL) return RD_OUTCOME_AGAIN;
    struct block *block = (struct block *)(void *)job;
    if (block->packs) rd_compress_policy_tried(&encoder->shrinking, block->shrank);
    if (!block->good) *error = block->error;
    if (!block->good) return RD_OUTCOME_FAILED;
    encoder->next = block;
  }
  struct block *next = encoder->next;
  parts[0] = (struct iovec){next->header, RD_HEADER_BYTES};
  parts[1] = (struct iovec){(unsigned char *)(uintptr_t)next->body, next->body_bytes};
  parts[2] = (struct iovec){next->tag, next->protection == RD_PROTECTION_MAC ? RD_TAG_BYTES : 0};
  return RD_OUTCOME_DONE;
}

void rd_encoder_sent(struct rd_encoder *encoder, uint64_t number) {
  encoder->next->free_at = number;
  encoder->next = NULL;
}

bool rd_encoder_is_empty(const struct rd_encoder *encoder) {
  return encoder->next == NULL && rd_pool_pending(encoder->threads.pool) == 0;
}

bool rd_encoder_is_working(const struct rd_encoder *encoder) {
  return encoder->next == NULL && rd_pool_pending(encoder->threads.pool) > 0;
}

int rd_encoder_poll_fd(const struct rd_encoder *encoder) {
  return rd_pool_poll_fd(encoder->threads.pool);
}

void rd_encoder_woken(struct rd_encoder *encoder) {
  rd_pool_woken(encoder->threads.pool);
}

static struct block *free_block(struct rd_encoder *encoder, uint64_t released) {
  for (unsigned i = 0; i < encoder->count; i++)
    if (encoder->blocks[i].free_at <= released) return &encoder->blocks[i];
  return NULL;
}

// Runs on any thread. A block that does not shrink is sent uncompressed, directly from the ring unless it is sealed.
static void make_message(struct rd_pool_job *job, void *contexts) {
  struct block *block = (struct block *)(void *)job;
  const struct rd_codec_context *own = contexts;
  size_t packed = block->packs ? pack(block, own->packer) : 0;
  block->shrank = packed > 0;
  block->body = block->shrank ? block->scratch : block->bytes;
  block->body_bytes = block->shrank ? packed : block->count;
  if (block->shrank) block->frame.flags |= RD_FLAG_COMPRESSED;
  block->good = protect(block, own->sealer);
  explicit_bzero(&block->turn, sizeof block->turn);
}

static bool protect(struct block *block, struct rd_sealer *sealer) {
  switch (block->protection) {
  case RD_PROTECTION_NONE:
    rd_frame_encode(&block->frame, block->header);
    return true;
  case RD_PROTECTION_MAC:
    return rd_sealer_mac(sealer, &block->turn, &block->frame, block->body, block->body_bytes, block->header, block->tag,
                         &block->error);
  case RD_PROTECTION_SEAL:
    break;
  }
  bool sealed = rd_sealer_seal(sealer, &block->turn, &block->frame, block->body, block->body_bytes, block->header,
                               block->scratch, &block->error);
  block->body = block->scratch;
  block->body_bytes += RD_TAG_BYTES;
  return sealed;
}

static size_t pack(struct block *block, struct rd_packer *packer) {
  size_t most = rd_pack_most_bytes(block->count);
  return rd_pack(packer, block->bytes, block->count, block->scratch,
                 most < block->scratch_bytes ? most : block->scratch_bytes);
}
