// SPDX-License-Identifier: Apache-2.0
// A harness that runs one of the loops in a single thread: no key, no clock. Connections are given to it as if they had
// just been authenticated (the harness replaces connect.h), and whenever the loop waits, the phony peer at their other
// end acts. So a session takes some hundred microseconds, and is the same each time.
#ifndef RD_LOOP_HARNESS_H
#define RD_LOOP_HARNESS_H

#include "fake_clock.h"
#include "phony_peer.h"
#include "script_control.h"

#define HARNESS_BUFFER_BYTES (64u << 10)
#define HARNESS_ACTS_MAX 200u

// Descriptors that are none of the system's.
enum { FAKE_WORK_FD = FAKE_FD, FAKE_OUTPUT_FD, FAKE_INPUT_FD };

struct loop_harness {
  struct script script;
  struct phony_peer peer;
  struct fuzz_input input;
  unsigned acts;
  bool adopts;                   // its connection is the only one
  enum rd_protection protection; // what both ends agree on, as the next ones
  bool chacha, compresses;
  struct rd_hello hello;                   // of the peer; epoch: of its newest connection
  unsigned slots, slot_bytes, small_slots; // that a receiver under test grants
  unsigned frames_a_key;                   // then the next one is derived; 0: as ever
  bool is_slow;                            // no work is done at once
  unsigned stalled;                        // so many more turns the wire takes nothing
  // The target's own: what the input's op 0xe0 to 0xef makes the source, the sink or the agent do; what is ready; one
  // turn after the input is used up. False: there is nothing to be done any more.
  void (*act)(struct loop_harness *end, uint8_t op);
  short (*ready)(const struct loop_harness *end, const struct pollfd *polled);
  bool (*wind_up)(struct loop_harness *end);
  unsigned turns_left; // of wind_up()
};

// Of an end that is all zeros but for what it is to be. The script opens the loop and lets it connect; orders that are
// added then come after that.
void loop_harness_init(struct loop_harness *end, enum rd_code (*loop)(struct rd_control *), enum rd_role role);
// Makes the first connection, and runs the loop until it ends.
void loop_harness_run(struct loop_harness *end);
void loop_harness_clear(struct loop_harness *end);

// By the two lowest bits.
enum rd_protection loop_harness_protection(uint8_t how);
// An order that it is given now.
struct rd_command *loop_harness_command(struct loop_harness *end, enum rd_command_type type);
bool loop_harness_is_slow(void); // the one that runs

#endif
