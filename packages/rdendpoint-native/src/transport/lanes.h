// SPDX-License-Identifier: Apache-2.0
// The lanes of a transport, of any kind: numbers of messages, their order, and ends.
// docs/adr/0028-lanes.md has the reasons.
#ifndef RD_TRANSPORT_LANES_H
#define RD_TRANSPORT_LANES_H

#include "base/outcome.h"
#include "transport/reorder.h"
#include "wire/wire.h"

// The number of a message is in the bits above its length.
#define RD_MESSAGE_NUMBER_SHIFT 21u
#define RD_MESSAGE_LENGTH_MASK ((1u << RD_MESSAGE_NUMBER_SHIFT) - 1)
_Static_assert(RD_MESSAGE_NUMBERS == 1u << (32 - RD_MESSAGE_NUMBER_SHIFT), "a peer can send no other number");
// Longer messages are spread over all lanes; short ones, such as ACKs, all use the first lane: the loss of one is
// noticed as soon as the next ones arrive.
#define RD_SHORT_MESSAGE_BYTES 4096u

struct rd_lanes {
  unsigned count, most;
  int fds[RD_LANES_MAX];      // one for each lane, if there are several
  int epoll_fd;               // of all lanes, if there are several; otherwise -1
  struct rd_reorder *reorder; // NULL: messages have no numbers
  uint64_t accepted;
  uint64_t unnumbered; // accepted before the first number
  struct rd_release_count released;
  bool has_ended[RD_LANES_MAX];
  unsigned ended_count;
  struct rd_error ended; // why the first of them ended, and when
  int64_t ended_at_ms;
};

// Begins with one lane. A second call of rd_lanes_close() is allowed.
void rd_lanes_init(struct rd_lanes *lanes);
void rd_lanes_close(struct rd_lanes *lanes);

// Implements the transport's expect_lanes().
void rd_lanes_expect(struct rd_lanes *lanes, unsigned most, unsigned first);
// Returns true if another lane may join a connection to `peer`. `is_alike`: it is over the same kind of transport.
bool rd_lanes_may_join(const struct rd_lanes *lanes, bool is_alike, const char *peer, struct rd_error *error);
// Adds a lane, whose descriptor is `fd`; `first_fd` is that of the first lane. Both are polled for input. Returns false
// if the system refuses.
bool rd_lanes_add(struct rd_lanes *lanes, int first_fd, int fd, struct rd_error *error);
// Returns the number of the next message to the peer; 0 without numbers.
unsigned rd_lanes_next_number(const struct rd_lanes *lanes);

// Receives the next message of one lane, as the transport's receive() does, and its number. After FAILED the lane is
// not used any more.
typedef enum rd_outcome rd_lane_receive(void *transport, unsigned lane, struct rd_message *message, unsigned *number,
                                        struct rd_error *error);
// Implements the transport's receive(), for a connection to `peer`.
enum rd_outcome rd_lanes_receive(struct rd_lanes *lanes, rd_lane_receive *receive, void *transport, const char *peer,
                                 struct rd_message *message, struct rd_error *error);

#endif
