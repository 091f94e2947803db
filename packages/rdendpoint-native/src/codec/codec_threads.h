// SPDX-License-Identifier: Apache-2.0
// The threads that encode blocks into DATA frames or decode them, each with its own contexts.
#ifndef RD_CODEC_CODEC_THREADS_H
#define RD_CODEC_CODEC_THREADS_H

#include "codec/block.h"
#include "codec/demand.h"
#include "codec/pool.h"
#include "crypto/seal.h"

struct rd_codec_context {
  struct rd_sealer *sealer;     // NULL: no encryption and no MAC
  struct rd_packer *packer;     // NULL: no compression
  struct rd_unpacker *unpacker; // NULL: no decompression
};

struct rd_codec_threads {
  unsigned count;
  bool seals_inline;       // the calling thread seals, the others only compress and decompress
  bool grows;              // and others help if there is a demand
  struct rd_demand demand; // for threads that seal
  struct rd_codec_context *contexts[RD_POOL_THREADS_MAX + 1]; // the last one is the calling thread's
  struct rd_pool *pool;                                       // NULL: stopped
};

// Returns the number of threads for `jobs`: `jobs` itself or, if it is 0, the number of CPUs, at most 8.
unsigned rd_codec_threads_count(unsigned jobs);

// `seal` may be NULL and `level` 0; `run` receives its thread's rd_codec_context. On failure there is nothing to
// destroy.
bool rd_codec_threads_create(struct rd_codec_threads *threads, unsigned jobs, const struct rd_seal *seal, int level,
                             bool unpacks, void (*run)(struct rd_pool_job *job, void *context), struct rd_error *error);
void rd_codec_threads_stop(struct rd_codec_threads *threads); // waits for blocks in work and drops the rest
void rd_codec_threads_destroy(struct rd_codec_threads *threads);

// Submits the job of a block of `bytes` bytes. Runs it in the calling thread if that is faster.
void rd_codec_threads_submit(struct rd_codec_threads *threads, struct rd_pool_job *job, bool packed, size_t bytes);

#endif
