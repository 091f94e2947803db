// SPDX-License-Identifier: Apache-2.0
// The other end of a loop under test, on a socket pair: it holds the key, and then says what the input wants it to say,
// properly or not. It checks what it hears.
#ifndef RD_PHONY_PEER_H
#define RD_PHONY_PEER_H

#include "digest.h"
#include "fuzz.h"
#include "handshake.h"

#define PHONY_STREAM_MOST_BYTES (1u << 20)

struct phony_peer {
  int fd;
  enum rd_role role; // its own
  struct rd_agreement agreement;
  bool joined;
  bool deaf;       // nothing more can be heard: the loop has closed, or said its last
  bool mute;       // nothing more can be said
  bool misbehaved; // what it said could not be meant by an honest peer

  // Of what it said: the stream as a sender.
  unsigned char *stream; // PHONY_STREAM_MOST_BYTES
  uint64_t said_bytes, said_frames;
  bool said_end; // properly, and nothing improper before it
  bool said_done;
  uint64_t granted_frames; // as a receiver
  struct rd_digest *digest;

  // Of what it heard.
  uint64_t heard_bytes, heard_frames, acked_bytes, acked_frames;
  bool heard_end, heard_done, heard_abort, heard_closed;
  struct rd_end end;
};

// Takes the descriptor over.
void phony_peer_init(struct phony_peer *peer, int fd, enum rd_role role);
void phony_peer_clear(struct phony_peer *peer);

// Proves the key, as the dialler or not. False: it came to nothing, as with a HELLO that cannot be.
bool phony_peer_join(struct phony_peer *peer, bool dialler, const struct rd_hello *hello);

// One thing that the input wants: a frame, or bytes that are none, or to listen.
void phony_peer_act(struct phony_peer *peer, struct fuzz_input *input);

// What an honest peer would say now in a frame of this type.
void phony_peer_say(struct phony_peer *peer, enum rd_frame_type type, size_t bytes);
// Takes what comes, until a frame of this type (0: none) came, one after which little comes, or none within `most_ms`.
// True: it was of this type.
bool phony_peer_hear(struct phony_peer *peer, unsigned type, int most_ms);
// Says nothing more, and hears the loop out.
void phony_peer_leave(struct phony_peer *peer);

// The bytes of every honest stream: what stands at a position is known from the position.
unsigned char phony_byte(uint64_t position);

#endif
