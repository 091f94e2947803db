// SPDX-License-Identifier: Apache-2.0
#include "wire/window.h"

#include "base/pages.h"
#include "base/size_text.h"
#include "wire/wire.h"

#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>

#define SLOTS_MIN 4u // for a small buffer: one end fills while the other empties
#define SLOTS_GOOD 8u
#define MEMORY_PART 16u // of a machine, for all lanes of a connection
#define FIT_SLOTS_MIN 2u
#define FIT_BYTES_MIN 4096u
// Two for frames other than DATA (conn/rx.c), and two for the transport itself.
#define SLOTS_BESIDE 4u
// For a chain. A host has one frame on the wire, and one that it is receiving or that waits for an acknowledgement.
#define RING_FRAMES_EACH 2u
#define RING_FRAMES_BESIDE 8u
// Bytes around a payload: headers, a tag, and a transport's own few bytes.
#define AROUND_BYTES 64u

static size_t slots_that_fit(size_t most_bytes, size_t slot_bytes);
static size_t slot_memory_bytes(size_t slot_bytes);

struct rd_window rd_window_of(size_t buffer_bytes, bool small) {
  uint32_t most = small ? RD_WINDOW_CODEC_SLOT_BYTES : RD_SLOT_MAX_BYTES;
  size_t each = buffer_bytes / SLOTS_MIN;
  uint32_t slot_bytes = each < most ? (uint32_t)each : most;
  return (struct rd_window){.slots = (uint32_t)(buffer_bytes / slot_bytes), .slot_bytes = slot_bytes};
}

struct rd_window rd_window_for_lanes(size_t buffer_bytes) {
  struct rd_window window = rd_window_of(buffer_bytes, true);
  uint32_t least_bytes = (uint32_t)((buffer_bytes + RD_WINDOW_LANE_SLOTS_MAX - 1) / RD_WINDOW_LANE_SLOTS_MAX);
  uint32_t most_bytes = least_bytes > RD_WINDOW_LANE_SLOT_BYTES ? least_bytes : RD_WINDOW_LANE_SLOT_BYTES;
  if (least_bytes > RD_WINDOW_LANE_SLOT_BYTES || window.slot_bytes > most_bytes) window.slot_bytes = most_bytes;
  window.slots = (uint32_t)(buffer_bytes / window.slot_bytes);
  return window;
}

unsigned rd_window_lanes_in(uint64_t memory_bytes, size_t buffer_bytes) {
  uint64_t lanes = memory_bytes / MEMORY_PART / buffer_bytes;
  return lanes == 0 ? 1 : lanes < UINT_MAX ? (unsigned)lanes : UINT_MAX;
}

size_t rd_window_buffer_bytes(size_t buffer_bytes, unsigned lanes) {
  size_t all = buffer_bytes * lanes;
  if (all <= RD_WINDOW_LANES_MAX_BYTES) return all;
  return buffer_bytes > RD_WINDOW_LANES_MAX_BYTES ? buffer_bytes : RD_WINDOW_LANES_MAX_BYTES;
}

struct rd_window rd_window_for_codec(const struct rd_window *window) {
  if (window->slot_bytes <= RD_WINDOW_CODEC_SLOT_BYTES) return *window;
  size_t most = slots_that_fit(rd_window_memory_bytes(window), RD_WINDOW_CODEC_SLOT_BYTES);
  size_t wanted = rd_window_bytes(window) / RD_WINDOW_CODEC_SLOT_BYTES;
  return (struct rd_window){.slots = (uint32_t)(wanted < most ? wanted : most),
                            .slot_bytes = RD_WINDOW_CODEC_SLOT_BYTES};
}

size_t rd_window_ring_bytes(size_t buffer_bytes, unsigned behind) {
  size_t wanted = ((size_t)behind * RING_FRAMES_EACH + RING_FRAMES_BESIDE) * RD_WINDOW_CODEC_SLOT_BYTES;
  size_t bounded = wanted < RD_WINDOW_RING_MAX_BYTES ? wanted : RD_WINDOW_RING_MAX_BYTES;
  return behind > 0 && bounded > buffer_bytes ? bounded : buffer_bytes;
}

size_t rd_window_bytes(const struct rd_window *window) {
  return (size_t)window->slots * window->slot_bytes;
}

size_t rd_window_memory_bytes(const struct rd_window *window) {
  size_t payload_bytes =
      window->slot_bytes > RD_CONTROL_PAYLOAD_MAX_BYTES ? window->slot_bytes : RD_CONTROL_PAYLOAD_MAX_BYTES;
  return rd_page_bytes() + (window->slots + SLOTS_BESIDE) * slot_memory_bytes(payload_bytes);
}

bool rd_window_fit(struct rd_window *window, size_t most_bytes, struct rd_error *error) {
  if (rd_window_memory_bytes(window) <= most_bytes) return true;
  size_t slots = slots_that_fit(most_bytes, window->slot_bytes);
  size_t good_slots = window->slots < SLOTS_GOOD ? window->slots : SLOTS_GOOD;
  if (slots < good_slots) {
    slots = good_slots;
    size_t page = rd_page_bytes(), each = most_bytes > page ? (most_bytes - page) / (slots + SLOTS_BESIDE) : 0;
    size_t stride_bytes = each / page * page;
    window->slot_bytes = stride_bytes >= 2 * page ? (uint32_t)(stride_bytes - page) : FIT_BYTES_MIN;
    if (slots_that_fit(most_bytes, window->slot_bytes) < slots) slots = slots_that_fit(most_bytes, window->slot_bytes);
  }
  window->slots = (uint32_t)slots;
  if (slots >= FIT_SLOTS_MIN) return true;
  rd_window_too_small(error);
  return false;
}

void rd_window_too_small(struct rd_error *error) {
  struct rlimit limit;
  char size[RD_SIZE_TEXT_BYTES] = "this process";
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    rd_size_text((double)limit.rlim_cur, size, sizeof size);
  rd_error_set(error, RD_CODE_CANNOT_CONNECT,
               "the memlock limit of %s is too small for RDMA (put '* - memlock unlimited' into "
               "/etc/security/limits.d/rdma.conf and log in again)",
               size);
}

void rd_window_note(size_t wanted_bytes, size_t got_bytes, char *out, size_t out_bytes) {
  struct rlimit limit;
  char wanted[RD_SIZE_TEXT_BYTES], got[RD_SIZE_TEXT_BYTES], most[RD_SIZE_TEXT_BYTES] = "";
  rd_size_text((double)wanted_bytes, wanted, sizeof wanted);
  rd_size_text((double)got_bytes, got, sizeof got);
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    rd_size_text((double)limit.rlim_cur, most, sizeof most);
  snprintf(out, out_bytes, "buffer of %s reduced to %s: memlock limit %s (raise it in /etc/security/limits.d/)", wanted,
           got, most);
}

static size_t slots_that_fit(size_t most_bytes, size_t slot_bytes) {
  size_t each = slot_memory_bytes(slot_bytes);
  size_t all = most_bytes > rd_page_bytes() ? (most_bytes - rd_page_bytes()) / each : 0;
  return all > SLOTS_BESIDE ? all - SLOTS_BESIDE : 0;
}

static size_t slot_memory_bytes(size_t slot_bytes) {
  return rd_pages_round(slot_bytes + AROUND_BYTES);
}
