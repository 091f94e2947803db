// SPDX-License-Identifier: Apache-2.0
// The other end of a loop under test, on a socket pair: it holds the key, and
// then says what the input wants it to say, properly or not. It checks what it
// hears.
#ifndef RD_PHONY_PEER_H
#define RD_PHONY_PEER_H

#include "base/digest.h"
#include "crypto/handshake.h"
#include "fuzz.h"

#define PHONY_STREAM_MAX_BYTES (1u << 20)

struct phony_peer {
  int fd;
  enum rd_role role;             // its own
  enum rd_protection protection; // of DATA, by every connection
  unsigned char *stream;         // PHONY_STREAM_MAX_BYTES: what was said or heard of it
  struct rd_digest *digest;
  bool stream_is_known; // set by the target: until bytes are said that are none of phony_bytes()

  // Of the connection there is.
  struct rd_agreement agreement;
  bool joined;
  bool deaf;        // nothing more can be heard: the loop has closed, or said its last
  bool mute;        // nothing more can be said
  bool misbehaved;  // what it said could not be meant by an honest peer
  bool spoke_early; // it went on before it heard from where: the loop cannot tell when it guessed that right
  bool overdrawn;   // it said more than it knew to be allowed: the loop may take that or not
  bool resume_owed; // it is not the hop's first: RESUME is the receiver's first
                    // word
  uint64_t said_frames, acked_frames, heard_frames, granted_frames;

  // As a sender.
  uint64_t said_bytes, acked_bytes;
  bool said_end;      // by this connection
  bool ended;         // END was said properly, by whichever connection
  uint64_t end_bytes; // and the stream is so long
  bool heard_done, heard_abort, heard_closed;

  // As a receiver.
  uint64_t heard_bytes, granted_bytes;
  bool heard_end; // since it said from where on it wants to hear
  bool heard_an_end;
  struct rd_end end;
  bool said_done, said_closed;
};

void phony_peer_init(struct phony_peer *peer, enum rd_role role);
void phony_peer_clear(struct phony_peer *peer);

// Takes over a connected socket, in place of the one there was, which is
// closed.
void phony_peer_meet(struct phony_peer *peer, int fd);
// Proves the key, as the dialer or not. False: it came to nothing, as with a
// HELLO that cannot be.
bool phony_peer_join(struct phony_peer *peer, bool is_dialer, const struct rd_hello *hello);

// One thing that the input wants: a frame, or bytes that are none, or to
// listen. `op` says which.
void phony_peer_act(struct phony_peer *peer, uint8_t op, struct fuzz_input *input);

// Sends a frame of this type as an honest peer would now.
void phony_peer_say(struct phony_peer *peer, enum rd_frame_type type, size_t bytes);
// Takes what comes, until a frame of this type (0: none) came, one after which
// little comes, or none within `most_ms`. True: it was of this type.
bool phony_peer_hear(struct phony_peer *peer, unsigned type, int most_ms);
// Sends nothing more, and receives until the loop ends.
void phony_peer_leave(struct phony_peer *peer);

// The bytes of every honest stream: what stands at a position is known from the position.
void phony_bytes(uint64_t position, size_t count, unsigned char *out);
bool phony_are(uint64_t position, size_t count, const unsigned char *bytes);

#endif
