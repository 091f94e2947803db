// SPDX-License-Identifier: Apache-2.0
#include "codec/codec_threads.h"

#include "base/io.h"
#include "base/memory.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

#define THREADS_AUTO_MAX 8u
// Waking a thread takes longer than processing this many bytes.
#define INLINE_SEALED_BYTES (32u << 10)
#define INLINE_PACKED_BYTES (4u << 10)

static void follow_demand(struct rd_codec_threads *threads);
static int64_t thread_ns(void);
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
  unsigned count = rd_codec_threads_count(jobs);
  *threads = (struct rd_codec_threads){.count = count, .seals_inline = jobs <= 1, .grows = jobs == 0 && count > 2};
  for (unsigned i = 0; i <= threads->count; i++) {
    threads->contexts[i] = create_context(seal, level, unpacks, error);
    if (threads->contexts[i] != NULL) continue;
    rd_codec_threads_destroy(threads);
    return false;
  }
  threads->pool = rd_pool_create(threads->count, run, (void *const *)threads->contexts);
  if (threads->grows) rd_pool_use(threads->pool, 0);
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

void rd_codec_threads_submit(struct rd_codec_threads *threads, struct rd_pool_job *job, bool packed, size_t bytes) {
  bool is_small = bytes <= (packed ? INLINE_PACKED_BYTES : INLINE_SEALED_BYTES);
  if (packed) rd_pool_use(threads->pool, threads->count);
  if (!packed && !is_small && threads->grows) follow_demand(threads);
  rd_pool_submit(threads->pool, job, is_small || (!packed && threads->seals_inline));
}

// Threads that seal cost a tenth more CPU time in total, for their wake-ups and because the bytes change caches. With
// only two CPUs the programs at both ends of the pipe need them as well.
static void follow_demand(struct rd_codec_threads *threads) {
  int64_t now_ns = rd_now_ns();
  if (!rd_demand_frame(&threads->demand, now_ns, rd_pool_is_waiting(threads->pool))) return;
  rd_demand_decide(&threads->demand, now_ns, thread_ns());
  threads->seals_inline = threads->demand.threads == 0;
  if (!threads->seals_inline) rd_pool_use(threads->pool, threads->demand.threads);
}

// Returns the CPU time that the calling thread has used.
static int64_t thread_ns(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec * RD_NS_A_SECOND + used.tv_nsec;
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
