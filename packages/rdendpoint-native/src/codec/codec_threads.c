// SPDX-License-Identifier: Apache-2.0
#include "codec/codec_threads.h"

#include "base/memory.h"

#include <sched.h>
#include <stdlib.h>

#define THREADS_AUTO_MAX 8u
// Waking a thread takes longer than processing this many bytes.
#define INLINE_SEALED_BYTES (32u << 10)
#define INLINE_PACKED_BYTES (4u << 10)

static bool seals_inline(unsigned jobs);
static struct rd_codec_context *create_context(const struct rd_seal *seal, int level, bool unpacks,
                                               struct rd_error *error);
static void destroy_context(struct rd_codec_context *context);

unsigned rd_codec_threads_count(unsigned jobs) {
  cpu_set_t allowed;
  if (jobs > 0) return jobs < RD_POOL_THREADS_MAX ? jobs : RD_POOL_THREADS_MAX;
  unsigned processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? (unsigned)CPU_COUNT(&allowed) : 1;
  return processors < THREADS_AUTO_MAX ? processors : THREADS_AUTO_MAX;
}

bool rd_codec_threads_create(struct rd_codec_threads *threads, unsigned jobs, const struct rd_seal *seal, int level,
                             bool unpacks, void (*run)(struct rd_pool_job *job, void *context),
                             struct rd_error *error) {
  *threads = (struct rd_codec_threads){.count = rd_codec_threads_count(jobs), .seals_inline = seals_inline(jobs)};
  for (unsigned i = 0; i <= threads->count; i++) {
    threads->contexts[i] = create_context(seal, level, unpacks, error);
    if (threads->contexts[i] != NULL) continue;
    rd_codec_threads_destroy(threads);
    return false;
  }
  threads->pool = rd_pool_create(threads->count, run, (void *const *)threads->contexts);
  return true;
}

void rd_codec_threads_stop(struct rd_codec_threads *threads) {
  rd_pool_destroy(threads->pool);
  threads->pool = NULL;
}

void rd_codec_threads_destroy(struct rd_codec_threads *threads) {
  rd_codec_threads_stop(threads);
  for (unsigned i = 0; i <= threads->count; i++) destroy_context(threads->contexts[i]);
  *threads = (struct rd_codec_threads){0};
}

void rd_codec_threads_submit(const struct rd_codec_threads *threads, struct rd_pool_job *job, bool packed,
                             size_t bytes) {
  bool is_small = bytes <= (packed ? INLINE_PACKED_BYTES : INLINE_SEALED_BYTES);
  rd_pool_submit(threads->pool, job, is_small || (!packed && threads->seals_inline));
}

// One more thread is not worth its wake-ups: it costs a tenth more CPU time in total, and with only two CPUs the
// programs at both ends of the pipe need them as well.
static bool seals_inline(unsigned jobs) {
  return jobs == 1 || (jobs == 0 && rd_codec_threads_count(0) <= 2);
}

static struct rd_codec_context *create_context(const struct rd_seal *seal, int level, bool unpacks,
                                               struct rd_error *error) {
  struct rd_codec_context *context = rd_memory_new(1, sizeof *context);
  bool good = (seal == NULL || (context->sealer = rd_sealer_create(seal, error)) != NULL) &&
              (level == 0 || (context->packer = rd_packer_create(level, error)) != NULL) &&
              (!unpacks || (context->unpacker = rd_unpacker_create(error)) != NULL);
  if (good) return context;
  destroy_context(context);
  return NULL;
}

static void destroy_context(struct rd_codec_context *context) {
  if (context == NULL) return;
  rd_sealer_destroy(context->sealer);
  rd_packer_destroy(context->packer);
  rd_unpacker_destroy(context->unpacker);
  free(context);
}
