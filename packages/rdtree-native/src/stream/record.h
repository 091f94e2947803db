// SPDX-License-Identifier: Apache-2.0
// Records of a tree stream (docs/protocol/trees.md, section 5): their one encoder and decoder.
#ifndef RD_TREE_RECORD_H
#define RD_TREE_RECORD_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define RD_TREE_VERSION 2u
#define RD_RECORD_HEAD_BYTES 8u
#define RD_RECORD_DATA_MAX_BYTES (1u << 20)                          // of a file, in one DATA record
#define RD_RECORD_ALIGN_BYTES 4096u                                  // of large DATA in a stream, for direct I/O
#define RD_RECORD_MAX_BYTES (RD_RECORD_DATA_MAX_BYTES + (64u << 10)) // payload of any record
#define RD_RECORD_DATA_HEAD_BYTES (RD_RECORD_HEAD_BYTES + 8u)        // before the bytes of DATA: head and offset
#define RD_NAME_MAX_BYTES 255u
#define RD_PATH_MAX_BYTES (1u << 19) // of a hard link's other path
#define RD_DEPTH_MAX 4096u
#define RD_DIGEST_TREE_BYTES 16u        // XXH3-128, as everywhere
#define RD_BLOCKS_MAX 65536u            // digests of one partial file
#define RD_OWNERS_MAX 65536u            // of users, and of groups, that a source names
#define RD_XATTRS_MAX_BYTES (16u << 20) // of one entry, by rd_xattr_bytes()
#define RD_LINK_DESTS_MAX 20u           // directories of --link-dest, as many as rsync accepts

// The contents of a stream, as its HEAD gives them.
enum rd_stream_phase {
  RD_STREAM_ENTRIES = 1,   // from scan: every entry of the source, without contents
  RD_STREAM_DECISIONS = 2, // from compare: the entries that the target lacks, and what is to be removed there
  RD_STREAM_CONTENTS = 3,  // from read: the same with the contents of files
  RD_STREAM_RESULTS = 4,   // from write: what has become permanent at the target
  RD_STREAM_SHARE = 5,     // from compare of one of several targets: its decisions, with SKIP
};

enum rd_record_type {
  RD_RECORD_HEAD = 1, // the first one, and only that
  RD_RECORD_OWNER,    // the name of a user or group, before the first entry that has its number
  RD_RECORD_PLACE,    // from compare, before all entries: where they go, see rd_target_mode
  RD_RECORD_ENTER,    // a directory; the entries that follow, until its LEAVE, are in it
  RD_RECORD_LEAVE,
  RD_RECORD_FILE, // a regular file; in CONTENTS, where `want` is RD_WANT_ALL, DATA and one FILE_END follow
  RD_RECORD_SYMLINK,
  RD_RECORD_SPECIAL, // a fifo, socket or device
  RD_RECORD_LINK,    // another name of a file that came before
  RD_RECORD_XATTR,   // of the entry that follows: ENTER, FILE, SYMLINK or SPECIAL
  RD_RECORD_BLOCKS,  // of the FILE that follows: digests of what the target has of it from an interrupted copy
  RD_RECORD_DATA,    // of the FILE before it; offsets rise, and what lies between two DATA is a hole
  RD_RECORD_FILE_END,
  RD_RECORD_REMOVE, // a name of the target, in the present directory, that the source lacks
  RD_RECORD_FAILED, // a name in the present directory that could not be read: never to be removed
  RD_RECORD_DONE,   // in RESULTS: an entry of `source` is permanent at the target
  RD_RECORD_END,    // the last one; a stream without it is cut off
  RD_RECORD_SKIP,   // in a SHARE: so many records of the source, XATTR apart, that the target does not want
  RD_RECORD_WANTS,  // of several targets: which of them want the PLACE, REMOVE or entry that follows
  RD_RECORD_PAD,    // zeros that move the bytes of the DATA that follows to a multiple of RD_RECORD_ALIGN_BYTES
};

struct rd_bytes {
  const unsigned char *at;
  size_t count;
};

struct rd_metadata {
  uint32_t mode; // with the bits of the type, as st_mode
  uint32_t uid, gid;
  uint32_t mtime_ns; // 0 to 999,999,999
  int64_t mtime_s;
};

// The part of an entry that the target wants. Before compare: RD_WANT_ALL.
enum rd_want {
  RD_WANT_ALL,      // all: it is new or differs
  RD_WANT_METADATA, // the content is there; mode, owner, times, ACLs or attributes differ
  RD_WANT_NOTHING,  // of ENTER: the directory is there and the same
  RD_WANT_RESUME,   // of FILE: all, and BLOCKS came before it
  RD_WANT_LINK,     // of FILE, SYMLINK and SPECIAL: a hard link to that entry below a directory of --link-dest
};

struct rd_entry {
  struct rd_bytes name; // 1 to 255 bytes, no '/', no NUL, neither . nor ..; ENTER at depth 0 may have an empty one:
                        // the target directory itself
  struct rd_metadata metadata;
  uint32_t source; // at depth 0: number of the source (from 0) that it is, or whose content; else 0
  enum rd_want want;
  uint32_t link_dest; // RD_WANT_LINK: the number of the directory, from 0
  uint64_t size;      // FILE: bytes
  uint64_t device;    // SPECIAL: of a device, as st_rdev
  bool has_digest;    // FILE: of its whole content
  unsigned char digest[RD_DIGEST_TREE_BYTES];
  struct rd_bytes target; // SYMLINK: 1 to 4095 bytes; LINK: the other path, from the target directory, of valid names
};

struct rd_xattr {
  struct rd_bytes name;  // 1 to 255 bytes without NUL
  struct rd_bytes value; // at most 64 KiB
};

struct rd_blocks {
  uint64_t block_bytes;    // 64 KiB to 1 GiB
  uint64_t bytes;          // whole blocks: DECISIONS: what the target has; CONTENTS: what of that the source has too
  struct rd_bytes digests; // of the blocks, 16 bytes each
};

enum rd_file_state {
  RD_FILE_WHOLE,   // size and digest are those of the content that was sent
  RD_FILE_AGAIN,   // it changed while it was read: forget its DATA; once more from the beginning, for the last time
  RD_FILE_DROPPED, // it cannot be read, or changed again: forget it
};

struct rd_file_end {
  enum rd_file_state state;
  uint64_t size;                              // of the whole content; the end may be a hole
  unsigned char digest[RD_DIGEST_TREE_BYTES]; // of the bytes of its DATA records, in order
  struct rd_metadata metadata;                // as it was after reading
};

// Where the entries of depth 0 go.
enum rd_target_mode {
  RD_PLACE_INTO, // into the directory that the target names
  RD_PLACE_AS,   // the only entry becomes what the target names
};

struct rd_record {
  enum rd_record_type type;
  union {
    struct {
      uint32_t version;
      enum rd_stream_phase phase;
    } head;
    struct {
      bool is_group;
      uint32_t id;
      struct rd_bytes name; // 1 to 255 bytes without NUL, ':' and newline
    } owner;
    enum rd_target_mode place;
    struct rd_entry entry; // ENTER, FILE, SYMLINK, SPECIAL, LINK; REMOVE, FAILED (name alone)
    struct {
      bool is_whole; // every name of the directory was sent: others at the target may be removed
    } leave;
    struct rd_xattr xattr;
    struct rd_blocks blocks;
    struct {
      uint64_t offset;
      struct rd_bytes bytes; // 1 to RD_RECORD_DATA_MAX_BYTES
    } data;
    struct rd_file_end file_end;
    struct {
      uint32_t source;
      struct rd_bytes path;        // below that source; empty: the source itself
      struct rd_metadata metadata; // as it was read
      uint64_t size;
    } done;
    struct {
      uint64_t entries, bytes; // of the source, at RD_WANT_ALL
      uint64_t failures;       // entries that could not be read
    } end;
    uint64_t skip;         // at least 1
    struct rd_bytes wants; // a byte a target, by rank: an rd_want. RD_WANT_ALL: what the record that follows has;
                           // RD_WANT_METADATA: of ENTER alone
    struct rd_bytes pad;
  };
};

// An upper bound of the encoded length of `record`, head included.
size_t rd_record_bound(const struct rd_record *record);
// Writes it to `out`, which has rd_record_bound() bytes. Returns its length.
size_t rd_record_encode(const struct rd_record *record, unsigned char *out);

// The length of the payload that follows a head. False (RD_CODE_DATA_DAMAGED): longer than RD_RECORD_MAX_BYTES.
bool rd_record_payload_bytes(const unsigned char head[RD_RECORD_HEAD_BYTES], size_t *bytes, struct rd_error *error);
// Decodes a whole record; its bytes stay those of `encoded`. False (RD_CODE_DATA_DAMAGED): a field is missing or out of
// range, a name is none, or bytes are left over. Whether it may come now is the stream's to check (stream_reader.h).
bool rd_record_decode(const unsigned char *encoded, size_t bytes, struct rd_record *record, struct rd_error *error);

// Likewise, of a DATA record whose first 16 bytes are in `head`, and whose other `count` bytes are anywhere.
bool rd_record_decode_data(const unsigned char head[RD_RECORD_DATA_HEAD_BYTES], const unsigned char *bytes,
                           size_t count, struct rd_record *record, struct rd_error *error);

// A name of a directory entry: see rd_entry.
bool rd_name_is_valid(struct rd_bytes name);
// Names joined by single slashes.
bool rd_path_is_valid(struct rd_bytes path);
struct rd_bytes rd_bytes_of(const char *text);
size_t rd_xattr_bytes(const struct rd_xattr *xattr); // name, value, and the memory that an attribute takes besides
bool rd_record_is_entry(enum rd_record_type type);   // ENTER, FILE, SYMLINK, SPECIAL, LINK

#endif
