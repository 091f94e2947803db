// SPDX-License-Identifier: Apache-2.0
// The peer of a loop under test, on a socket pair: it holds the key, and sends the frames that the input chooses,
// proper or not. It checks the frames that it receives.
#ifndef RD_PHONY_PEER_H
#define RD_PHONY_PEER_H

#include "base/digest.h"
#include "crypto/handshake.h"
#include "fuzz.h"

#define PHONY_STREAM_MAX_BYTES (1u << 20)

struct phony_peer {
  int fd;
  enum rd_role role;             // the peer's own
  enum rd_protection protection; // of DATA, on every connection
  unsigned char *stream;         // PHONY_STREAM_MAX_BYTES: the bytes sent or received
  struct rd_digest *digest;
  bool stream_is_known; // set by the target; false once bytes other than those of phony_bytes() were sent

  // About the current connection.
  struct rd_agreement agreement;
  bool joined;
  bool deaf;        // it can receive nothing more: the loop has closed, or sent its last frame
  bool mute;        // it can send nothing more
  bool misbehaved;  // it sent something that an honest peer could not have sent
  bool spoke_early; // it continued before it received RESUME: the loop cannot notice if it guessed the offset right
  bool overdrawn;   // it sent more than it knew to be allowed: the loop may accept that or not
  bool resume_owed; // it is not the hop's first connection: the receiver must send RESUME first
  uint64_t said_frames, acked_frames, heard_frames, granted_frames;

  // As a sender.
  uint64_t said_bytes, acked_bytes;
  bool said_end;      // on this connection
  bool ended;         // a proper END was sent, on any connection
  uint64_t end_bytes; // then the length of the stream
  bool heard_done, heard_abort, heard_closed;

  // As a receiver.
  uint64_t heard_bytes, granted_bytes;
  bool heard_end; // since it sent RESUME
  bool heard_an_end;
  struct rd_end end;
  bool said_done, said_closed;
};

void phony_peer_init(struct phony_peer *peer, enum rd_role role);
void phony_peer_clear(struct phony_peer *peer);

// Takes ownership of a connected socket, which replaces the current one; closes that.
void phony_peer_meet(struct phony_peer *peer, int fd);
// Proves the key, as the dialer or the listener. Returns false if the handshake failed, for example because of an
// invalid HELLO.
bool phony_peer_join(struct phony_peer *peer, bool is_dialer, const struct rd_hello *hello);

// Does one thing that the input chooses, depending on `op`: sends a frame or invalid bytes, or receives.
void phony_peer_act(struct phony_peer *peer, uint8_t op, struct fuzz_input *input);

// Sends a frame of this type as an honest peer would now.
void phony_peer_say(struct phony_peer *peer, enum rd_frame_type type, size_t bytes);
// Receives until a frame of this type (0: none) came, or one after which little comes, or none within `most_ms`.
// Returns true if it was of this type.
bool phony_peer_hear(struct phony_peer *peer, unsigned type, int most_ms);
// Sends nothing more, and receives until the loop ends.
void phony_peer_leave(struct phony_peer *peer);

// The bytes of every honest stream: each byte is known from its position.
void phony_bytes(uint64_t position, size_t count, unsigned char *out);
bool phony_are(uint64_t position, size_t count, const unsigned char *bytes);

#endif
