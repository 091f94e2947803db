// SPDX-License-Identifier: Apache-2.0
#include "ring/shared_ring.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/pages.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

// The first page of the memory. The ring begins on the next page.
struct head {
  struct rd_ring_cursors cursors;
  atomic_bool waits[2]; // by enum rd_ring_side
  _Alignas(max_align_t) unsigned char notes[RD_SHARED_RING_NOTES_BYTES];
};

struct rd_shared_ring {
  enum rd_ring_side side;
  struct rd_ring_fds fds;
  struct head *head;
  unsigned char *memory; // of the ring, mapped twice, one after the other; NULL: not made yet
  size_t bytes;
  struct rd_ring *ring;
};

static int create_memory(void);
static bool map_ring(struct rd_shared_ring *shared, struct rd_error *error);
static void no_memory(size_t bytes, struct rd_error *error);

bool rd_ring_fds_create(struct rd_ring_fds sides[2], struct rd_error *error) {
  int bells[2] = {-1, -1};
  sides[0] = sides[1] = RD_NO_RING_FDS;
  sides[0].memory = create_memory();
  if (sides[0].memory >= 0) sides[1].memory = fcntl(sides[0].memory, F_DUPFD_CLOEXEC, 3);
  if (sides[1].memory >= 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, bells) == 0) {
    sides[0].bell = bells[0];
    sides[1].bell = bells[1];
    return true;
  }
  rd_error_set_errno(error, RD_CODE_INTERNAL, "cannot create memory that two programs share");
  rd_ring_fds_close(&sides[0]);
  rd_ring_fds_close(&sides[1]);
  return false;
}

void rd_ring_fds_close(struct rd_ring_fds *fds) {
  rd_cleanup_fd(&fds->memory);
  rd_cleanup_fd(&fds->bell);
}

struct rd_shared_ring *rd_shared_ring_open(enum rd_ring_side side, struct rd_ring_fds fds, struct rd_error *error) {
  struct rd_shared_ring *shared = rd_memory_new(1, sizeof *shared);
  *shared = (struct rd_shared_ring){.side = side, .fds = fds};
  void *head = mmap(NULL, rd_page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fds.memory, 0);
  if (head != MAP_FAILED) {
    shared->head = head;
    return shared;
  }
  no_memory(rd_page_bytes(), error);
  rd_shared_ring_destroy(shared);
  return NULL;
}

void rd_shared_ring_destroy(struct rd_shared_ring *shared) {
  if (shared == NULL) return;
  rd_ring_destroy(shared->ring);
  if (shared->memory != NULL) munmap(shared->memory, 2 * shared->bytes);
  if (shared->head != NULL) munmap(shared->head, rd_page_bytes());
  rd_ring_fds_close(&shared->fds);
  free(shared);
}

bool rd_shared_ring_make(struct rd_shared_ring *shared, size_t capacity_bytes, struct rd_error *error) {
  size_t ring_bytes = rd_pages_round(capacity_bytes + RD_RING_SPARE_BYTES);
  if (shared->ring != NULL) return true;
  // Before the memory has its size, which shows the other side that there is a ring.
  atomic_store(&shared->head->cursors.limit, ring_bytes - RD_RING_SPARE_BYTES);
  if (ftruncate(shared->fds.memory, (off_t)(rd_page_bytes() + ring_bytes)) < 0) {
    no_memory(ring_bytes, error);
    return false;
  }
  if (rd_shared_ring_get(shared, error) == NULL) return false;
  rd_shared_ring_tell(shared);
  return true;
}

struct rd_ring *rd_shared_ring_get(struct rd_shared_ring *shared, struct rd_error *error) {
  struct stat status;
  size_t page = rd_page_bytes();
  error->code = RD_CODE_OK;
  if (shared->ring != NULL) return shared->ring;
  if (fstat(shared->fds.memory, &status) < 0 || (size_t)status.st_size <= page + RD_RING_SPARE_BYTES) return NULL;
  shared->bytes = (size_t)status.st_size - page;
  shared->bytes -= shared->bytes % page; // the other program chose the size
  if (map_ring(shared, error)) shared->ring = rd_ring_share(shared->memory, shared->bytes, &shared->head->cursors);
  return shared->ring;
}

unsigned char *rd_shared_ring_at(const struct rd_shared_ring *shared, uint64_t offset) {
  return shared->memory + offset % shared->bytes;
}

void *rd_shared_ring_notes(const struct rd_shared_ring *shared) {
  return shared->head->notes;
}

void rd_shared_ring_tell(struct rd_shared_ring *shared) {
  enum rd_ring_side other = shared->side == RD_RING_WRITER ? RD_RING_READER : RD_RING_WRITER;
  if (!atomic_exchange(&shared->head->waits[other], false)) return;
  (void)send(shared->fds.bell, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL); // a full socket also wakes it
}

void rd_shared_ring_expect_news(struct rd_shared_ring *shared) {
  atomic_store(&shared->head->waits[shared->side], true);
}

int rd_shared_ring_poll_fd(const struct rd_shared_ring *shared) {
  return shared->fds.bell;
}

void rd_shared_ring_woken(struct rd_shared_ring *shared) {
  char rung[64];
  ssize_t got = recv(shared->fds.bell, rung, sizeof rung, MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) rd_cleanup_fd(&shared->fds.bell);
}

// One page long so far. Returns -1 on failure.
static int create_memory(void) {
  RD_AUTO_CLOSE int fd = memfd_create("rdpipe ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  bool is_made = fd >= 0 && ftruncate(fd, (off_t)rd_page_bytes()) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0;
  return is_made ? rd_take_fd(&fd) : -1;
}

// The second mapping follows the first one, so that no byte range of the ring is in two pieces.
static bool map_ring(struct rd_shared_ring *shared, struct rd_error *error) {
  size_t bytes = shared->bytes;
  unsigned char *both = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  bool is_mapped = both != MAP_FAILED;
  for (size_t at = 0; is_mapped && at < 2 * bytes; at += bytes)
    is_mapped = mmap(both + at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, shared->fds.memory,
                     (off_t)rd_page_bytes()) != MAP_FAILED;
  if (is_mapped)
    shared->memory = both;
  else
    no_memory(bytes, error);
  if (!is_mapped && both != MAP_FAILED) munmap(both, 2 * bytes);
  return is_mapped;
}

static void no_memory(size_t bytes, struct rd_error *error) {
  rd_error_set_errno(error, RD_CODE_INTERNAL, "no memory for a shared buffer of %zu bytes (set a smaller --buffer)",
                     bytes);
}
