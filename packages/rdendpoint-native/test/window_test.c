// SPDX-License-Identifier: Apache-2.0
// The credit that a receiver grants, and how its window is reduced to the memory that a device may use.
#include "wire/window.h"

#include "base/pages.h"
#include "test.h"
#include "wire/wire.h"

#include <limits.h>
#include <string.h>
#include <sys/resource.h>

#define MIB (1u << 20)
#define BYTES_MIN (64u << 10) // of a buffer

static struct rd_error error;

static void test_buffers(void) {
  static const size_t buffers[] = {BYTES_MIN, 100001, 777777, MIB, 4 * MIB, 8 * MIB, 8 * MIB + 1, 1u << 30};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
    struct rd_window window = rd_window_of(buffers[i], false);
    CHECK(window.slots >= 4 && window.slot_bytes <= RD_SLOT_MAX_BYTES);
    CHECK(rd_window_bytes(&window) <= buffers[i] && rd_window_bytes(&window) > buffers[i] / 10 * 7);
  }
  struct rd_window worked = rd_window_of(8 * MIB, true);
  CHECK(worked.slots == 32 && worked.slot_bytes == 256 << 10);
  worked = rd_window_of(64 << 10, true);
  CHECK(worked.slots == 4 && worked.slot_bytes == 16 << 10);
  struct rd_window usual = rd_window_of(8 * MIB, false);
  CHECK(usual.slots == 8 && usual.slot_bytes == MIB);
}

static void test_rings_of_chains(void) {
  CHECK(rd_window_lanes_in(UINT64_C(2048) * MIB, 8 * MIB) == 16 && rd_window_lanes_in(600 * MIB, 8 * MIB) == 4);
  CHECK(rd_window_lanes_in(64 * MIB, 8 * MIB) == 1 && rd_window_lanes_in(UINT64_MAX, BYTES_MIN) == UINT_MAX);
  CHECK(rd_window_ring_bytes(8 * MIB, 0) == 8 * MIB && rd_window_ring_bytes(8 * MIB, 12) == 8 * MIB);
  CHECK(rd_window_ring_bytes(8 * MIB, 13) == 8 * MIB + (512u << 10));
  CHECK(rd_window_ring_bytes(8 * MIB, 1000) == 502 * MIB && rd_window_ring_bytes(512 * MIB, 1000) == 512 * MIB);
  CHECK(rd_window_ring_bytes(8 * MIB, RD_BEHIND_MAX) == 1u << 30 && rd_window_ring_bytes(BYTES_MIN, 0) == BYTES_MIN);
}

static void test_worked_after_all(void) {
  struct rd_window usual = rd_window_of(8 * MIB, false), worked = rd_window_for_codec(&usual), same = worked;
  CHECK(worked.slots == 32 && worked.slot_bytes == 256 << 10);
  same = rd_window_for_codec(&worked);
  CHECK(same.slots == 32 && same.slot_bytes == 256 << 10);
  usual = rd_window_of(1u << 30, false);
  worked = rd_window_for_codec(&usual);
  CHECK(worked.slots > (1u << 30) / ((256u << 10) + rd_page_bytes()) &&
        rd_window_memory_bytes(&worked) <= rd_window_memory_bytes(&usual));
}

static void test_no_limit(void) {
  struct rd_window window = rd_window_of(1u << 30, false), same = window;
  CHECK(rd_window_fit(&window, SIZE_MAX, &error) && memcmp(&window, &same, sizeof same) == 0);
  CHECK(rd_window_fit(&window, rd_window_memory_bytes(&window), &error) && memcmp(&window, &same, sizeof same) == 0);
}

static void test_fewer_slots(void) {
  struct rd_window window = rd_window_of(64 * MIB, false);
  CHECK(rd_window_fit(&window, 32 * MIB, &error));
  // Four slots are needed besides these, and each slot takes an extra page.
  CHECK(window.slot_bytes == MIB && window.slots == (32 * MIB - rd_page_bytes()) / (MIB + rd_page_bytes()) - 4);
}

static void test_smaller_slots(void) {
  struct rd_window window = rd_window_of(8 * MIB, false);
  CHECK(rd_window_fit(&window, 6 * MIB, &error));
  CHECK(window.slots == 8 && window.slot_bytes % 4096 == 0);
  CHECK(window.slot_bytes >= MIB / 2 - 2 * rd_page_bytes() && window.slot_bytes < MIB / 2);
}

// For any limit: a fitted window fits, and a limit is refused only if it is too small for two slots.
static void test_every_limit(void) {
  static const size_t buffers[] = {BYTES_MIN, 100001, 8 * MIB, 1u << 30};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++) {
    for (size_t most_bytes = 0; most_bytes < 20 * MIB; most_bytes += most_bytes < MIB ? 1000 : 100003) {
      struct rd_window window = rd_window_of(buffers[i], false);
      bool fits = rd_window_fit(&window, most_bytes, &error);
      struct rd_window least = {.slots = 2, .slot_bytes = 4096};
      CHECK(fits == (rd_window_memory_bytes(&least) <= most_bytes));
      if (!fits) continue;
      CHECK(rd_window_memory_bytes(&window) <= most_bytes);
      CHECK(window.slots >= 2 && window.slot_bytes >= 4096 && rd_window_bytes(&window) <= buffers[i]);
      CHECK(rd_window_memory_bytes(&window) > most_bytes / 2 || rd_window_bytes(&window) > buffers[i] / 2);
    }
  }
}

static void test_words(void) {
  const struct rlimit limit = {.rlim_cur = 8 * MIB, .rlim_max = 8 * MIB};
  char note[160];
  REQUIRE(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
  rd_window_note(8 * MIB, 11 * MIB / 2, note, sizeof note);
  CHECK(strcmp(note, "buffer of 8.0 MiB reduced to 5.5 MiB: memlock limit 8.0 MiB (raise it in "
                     "/etc/security/limits.d/)") == 0);
  rd_window_too_small(&error);
  CHECK(error.code == RD_CODE_CANNOT_CONNECT && strstr(error.message, "memlock limit of 8.0 MiB") != NULL);
  CHECK(strstr(error.message, "'* - memlock unlimited'") != NULL);
}

int main(void) {
  test_buffers();
  test_rings_of_chains();
  test_worked_after_all();
  test_no_limit();
  test_fewer_slots();
  test_smaller_slots();
  test_every_limit();
  test_words();
  return test_end("window");
}
