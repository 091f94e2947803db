// SPDX-License-Identifier: Apache-2.0
// A harness that runs one of the loops in a single thread, without a key or a clock. It gives the loop connections as
// if they had just been authenticated (it replaces establisher.h), and whenever the loop waits, the phony peer at the
// other end acts. So a session takes a few hundred microseconds, and always runs in the same way.
#ifndef RD_LOOP_HARNESS_H
#define RD_LOOP_HARNESS_H

#include "fake_clock.h"
#include "phony_peer.h"
#include "script_control.h"

#define HARNESS_BUFFER_BYTES (64u << 10)
#define HARNESS_ACTS_MAX 200u

// Descriptors that are not the system's.
enum { FAKE_WORK_FD = FAKE_FD, FAKE_OUTPUT_FD, FAKE_INPUT_FD };

struct loop_harness {
  struct script script;
  struct phony_peer peer;
  struct fuzz_input input;
  unsigned acts;
  bool adopts;                   // an adopted connection, the only one
  enum rd_protection protection; // agreed by both ends, like the next ones
  bool chacha, compresses;
  struct rd_hello hello;                   // the peer's; its epoch is that of the newest connection
  unsigned slots, slot_bytes, small_slots; // granted by a receiver under test
  unsigned frames_a_key;                   // after that the next key is derived; 0: the default
  bool is_slow;                            // no work is done at once
  unsigned stalled;                        // number of turns in which the wire accepts nothing
  // The target's own functions. act(): what the source, the sink or the agent does on ops 0xe0 to 0xec of the input.
  // ready(): events of its descriptors. wind_up(): one turn after the input is used up; returns false if nothing is
  // left to do.
  void (*act)(struct loop_harness *end, uint8_t op);
  short (*ready)(const struct loop_harness *end, const struct pollfd *polled);
  bool (*wind_up)(struct loop_harness *end);
  unsigned turns_left; // calls of wind_up() left, plus 1
};

// Initializes the parts that do not depend on the target; `end` is otherwise all zeros except for its settings. The
// script opens the loop and lets it connect; commands added later come after that.
void loop_harness_init(struct loop_harness *end, enum rd_code (*loop)(struct rd_control *), enum rd_role role);
// Makes the first connection, and runs the loop until it ends.
void loop_harness_run(struct loop_harness *end);
void loop_harness_clear(struct loop_harness *end);

// Returns the protection that the two lowest bits choose.
enum rd_protection loop_harness_protection(uint8_t how);
// Adds a command for the loop, given to it now.
struct rd_command *loop_harness_command(struct loop_harness *end, enum rd_command_type type);
bool loop_harness_is_slow(void); // of the harness that is running

#endif
