// SPDX-License-Identifier: Apache-2.0
#include "ring/relay.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/pages.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

// The first page of the memory. The ring begins on the next page.
struct shared {
  struct rd_ring_cursors cursors;
  atomic_bool waits[2]; // indexed by enum rd_role
  atomic_bool ended;    // `end` is set
  struct rd_end end;
  atomic_int behind; // enum rd_behind
};

struct rd_relay {
  enum rd_role role;
  int memory_fd, bell_fd;
  struct shared *shared;
  unsigned char *memory; // of the ring; NULL: not created yet
  size_t bytes;
  struct rd_ring *ring;
};

static void *map(const struct rd_relay *relay, size_t from, size_t bytes, struct rd_error *error);
static enum rd_role other(enum rd_role role);

struct rd_relay *rd_relay_open(enum rd_role role, int memory_fd, int bell_fd, struct rd_error *error) {
  struct rd_relay *relay = rd_memory_new(1, sizeof *relay);
  *relay = (struct rd_relay){.role = role, .memory_fd = memory_fd, .bell_fd = bell_fd};
  relay->shared = map(relay, 0, rd_page_bytes(), error);
  if (relay->shared != NULL) return relay;
  rd_relay_destroy(relay);
  return NULL;
}

void rd_relay_destroy(struct rd_relay *relay) {
  if (relay == NULL) return;
  rd_ring_destroy(relay->ring);
  if (relay->memory != NULL) munmap(relay->memory, relay->bytes);
  if (relay->shared != NULL) munmap(relay->shared, rd_page_bytes());
  rd_cleanup_fd(&relay->memory_fd);
  rd_cleanup_fd(&relay->bell_fd);
  free(relay);
}

bool rd_relay_make(struct rd_relay *relay, size_t capacity_bytes, struct rd_error *error) {
  size_t bytes = rd_page_bytes() + rd_pages_round(capacity_bytes + RD_RING_SPARE_BYTES);
  if (relay->ring != NULL) return true;
  if (ftruncate(relay->memory_fd, (off_t)bytes)) {
    rd_error_set_errno(error, RD_CODE_INTERNAL, "no memory for a relay of %zu bytes (set a smaller --buffer)", bytes);
    return false;
  }
  if (rd_relay_ring(relay, error) == NULL) return false;
  rd_relay_tell(relay);
  return true;
}

struct rd_ring *rd_relay_ring(struct rd_relay *relay, struct rd_error *error) {
  struct stat status;
  size_t page = rd_page_bytes();
  error->code = RD_CODE_OK;
  if (relay->ring != NULL) return relay->ring;
  if (fstat(relay->memory_fd, &status) || (size_t)status.st_size <= page + RD_RING_SPARE_BYTES) return NULL;
  relay->bytes = (size_t)status.st_size - page;
  relay->memory = map(relay, page, relay->bytes, error);
  if (relay->memory != NULL) relay->ring = rd_ring_share(relay->memory, relay->bytes, &relay->shared->cursors);
  return relay->ring;
}

void rd_relay_end(struct rd_relay *relay, const struct rd_end *end) {
  relay->shared->end = *end;
  atomic_store(&relay->shared->ended, true);
  rd_relay_tell(relay);
}

bool rd_relay_has_ended(const struct rd_relay *relay, struct rd_end *end) {
  bool ended = atomic_load(&relay->shared->ended);
  if (ended) *end = relay->shared->end;
  return ended;
}

void rd_relay_set_behind(struct rd_relay *relay, enum rd_behind behind) {
  atomic_store(&relay->shared->behind, (int)behind);
  rd_relay_tell(relay);
}

enum rd_behind rd_relay_behind(const struct rd_relay *relay) {
  return (enum rd_behind)atomic_load(&relay->shared->behind);
}

void rd_relay_tell(struct rd_relay *relay) {
  if (!atomic_exchange(&relay->shared->waits[other(relay->role)], false)) return;
  (void)send(relay->bell_fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL); // a full socket also wakes it
}

void rd_relay_expect_news(struct rd_relay *relay) {
  atomic_store(&relay->shared->waits[relay->role], true);
}

int rd_relay_poll_fd(const struct rd_relay *relay) {
  return relay->bell_fd;
}

void rd_relay_woken(struct rd_relay *relay) {
  char rung[64];
  ssize_t got = recv(relay->bell_fd, rung, sizeof rung, MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) rd_cleanup_fd(&relay->bell_fd);
}

// NULL on failure.
static void *map(const struct rd_relay *relay, size_t from, size_t bytes, struct rd_error *error) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, relay->memory_fd, (off_t)from);
  if (memory != MAP_FAILED) return memory;
  rd_error_set_errno(error, RD_CODE_INTERNAL, "no memory for a relay of %zu bytes (set a smaller --buffer)", bytes);
  return NULL;
}

static enum rd_role other(enum rd_role role) {
  return role == RD_ROLE_SENDER ? RD_ROLE_RECEIVER : RD_ROLE_SENDER;
}
