// SPDX-License-Identifier: Apache-2.0
#include "codec/codec_threads.h"

#include "base/memory.h"
#include "base/pool.h"

#include <sched.h>
#include <stdlib.h>

#define THREADS_AUTO_MOST 8u

static struct rd_codec_context *create_set(const struct rd_seal *seal, int level, bool unpacks, struct rd_error *error);
static void destroy_set(struct rd_codec_context *context);

bool rd_codec_context_create(struct rd_codec_context **sets, unsigned count, const struct rd_seal *seal, int level,
                             bool unpacks, struct rd_error *error) {
  for (unsigned i = 0; i < count; i++) sets[i] = NULL;
  for (unsigned i = 0; i < count; i++) {
    sets[i] = create_set(seal, level, unpacks, error);
    if (sets[i] != NULL) continue;
    rd_codec_context_destroy(sets, count);
    return false;
  }
  return true;
}

void rd_codec_context_destroy(struct rd_codec_context **sets, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    destroy_set(sets[i]);
    sets[i] = NULL;
  }
}

unsigned rd_codec_context_threads(unsigned jobs) {
  cpu_set_t allowed;
  if (jobs > 0) return jobs < RD_POOL_THREADS_MOST ? jobs : RD_POOL_THREADS_MOST;
  unsigned processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? (unsigned)CPU_COUNT(&allowed) : 1;
  return processors < THREADS_AUTO_MOST ? processors : THREADS_AUTO_MOST;
}

// One thread more takes a tenth more of the processors' time than it gives, and where there are only two of them the
// programs at both ends of the pipe need theirs as well.
bool rd_codec_context_seal_inline(unsigned jobs) {
  return jobs == 1 || (jobs == 0 && rd_codec_context_threads(0) <= 2);
}

static struct rd_codec_context *create_set(const struct rd_seal *seal, int level, bool unpacks,
                                           struct rd_error *error) {
  struct rd_codec_context *context = rd_memory_new(1, sizeof *context);
  bool good = (seal == NULL || (context->sealer = rd_sealer_create(seal, error)) != NULL) &&
              (level == 0 || (context->packer = rd_packer_create(level, error)) != NULL) &&
              (!unpacks || (context->unpacker = rd_unpacker_create(error)) != NULL);
  if (good) return context;
  destroy_set(context);
  return NULL;
}

static void destroy_set(struct rd_codec_context *context) {
  if (context == NULL) return;
  rd_sealer_destroy(context->sealer);
  rd_packer_destroy(context->packer);
  rd_unpacker_destroy(context->unpacker);
  free(context);
}
