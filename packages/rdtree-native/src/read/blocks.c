// SPDX-License-Identifier: Apache-2.0
#include "read/blocks.h"

#include "base/digest.h"
#include "base/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS_AHEAD 8u
#define READ_BYTES (1u << 20)

struct block {
  struct rd_read_job job;
  int fd;
  uint64_t offset, bytes;
  const unsigned char *expected;
  const atomic_bool *is_over; // the answer is known without this one
  bool is_same;
  int number; // errno
  unsigned char *room;
};

static void submit(struct rd_threads *threads, const struct rd_wanted_file *file, uint64_t index, struct block *block);
static void compare(struct rd_read_job *job);

uint64_t rd_blocks_verify(struct rd_threads *threads, struct rd_wanted_file *file) {
  const struct rd_blocks *blocks = &file->blocks.blocks;
  uint64_t own = file->status.stx_size / blocks->block_bytes, theirs = blocks->digests.count / RD_DIGEST_TREE_BYTES;
  uint64_t most = own < theirs ? own : theirs, submitted = 0, verified = 0;
  atomic_bool is_over = false;
  struct block ahead[BLOCKS_AHEAD] = {0};
  for (uint64_t waited = 0; waited < submitted || (submitted < most && !is_over); waited++) {
    for (; submitted < most && submitted < waited + BLOCKS_AHEAD && !is_over; submitted++) {
      ahead[submitted % BLOCKS_AHEAD].is_over = &is_over;
      submit(threads, file, submitted, &ahead[submitted % BLOCKS_AHEAD]);
    }
    struct block *block = &ahead[waited % BLOCKS_AHEAD];
    rd_threads_wait(threads, &block->job);
    if (is_over) continue;
    file->number = block->number;
    is_over = !block->is_same;
    verified += block->is_same;
  }
  for (size_t i = 0; i < BLOCKS_AHEAD; i++) free(ahead[i].room);
  return verified;
}

static void submit(struct rd_threads *threads, const struct rd_wanted_file *file, uint64_t index, struct block *block) {
  const struct rd_blocks *blocks = &file->blocks.blocks;
  if (block->room == NULL) block->room = rd_memory_resize(NULL, READ_BYTES, 1);
  *block = (struct block){.job.run = compare,
                          .fd = file->fd,
                          .offset = index * blocks->block_bytes,
                          .bytes = blocks->block_bytes,
                          .expected = blocks->digests.at + index * RD_DIGEST_TREE_BYTES,
                          .is_over = block->is_over,
                          .room = block->room};
  rd_threads_submit(threads, &block->job);
}

static void compare(struct rd_read_job *job) {
  struct block *block = (struct block *)(void *)job; // its first field
  struct rd_error error;
  unsigned char value[RD_DIGEST_TREE_BYTES];
  struct rd_digest *digest = rd_digest_create(&error);
  if (digest == NULL) abort(); // without memory: see base/memory.h
  uint64_t done = 0;
  while (done < block->bytes && !*block->is_over) {
    uint64_t left = block->bytes - done;
    ssize_t count = pread(block->fd, block->room, left < READ_BYTES ? left : READ_BYTES, (off_t)(block->offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) block->number = errno;
    if (count <= 0) break;
    rd_digest_update(digest, block->room, (size_t)count);
    done += (uint64_t)count;
  }
  rd_digest_value(digest, value);
  rd_digest_destroy(digest);
  block->is_same = done == block->bytes && memcmp(value, block->expected, sizeof value) == 0;
}
