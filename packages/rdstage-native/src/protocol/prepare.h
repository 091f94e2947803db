// SPDX-License-Identifier: Apache-2.0
// The `prepare` request: a segment's stages and links on this host.
#ifndef RD_STAGE_PREPARE_H
#define RD_STAGE_PREPARE_H

#include "base/error.h"

#include <jansson.h>
#include <stdint.h>

#define RD_PREPARE_STAGES_MAX 2048u

enum rd_hop_side { RD_SIDE_SEND, RD_SIDE_RECV };
const char *rd_hop_side_name(enum rd_hop_side side); // "send", "recv"

enum rd_stage_kind {
  RD_STAGE_COMMAND,
  RD_STAGE_SOURCE,
  RD_STAGE_SINK,
  RD_STAGE_TREE,
  RD_STAGE_FORWARD,
  RD_STAGE_GATHER,
};

struct rd_stage_spec {
  unsigned number;
  enum rd_stage_kind kind;
  char *text;       // the command, or the file's word; NULL for a program of rdpipe
  char *shell;      // of a command; NULL: the user's login shell
  bool ok[256];     // of all kinds but files: statuses that count as success
  bool lenient;     // the reader gets a clean end of file even if the stage fails
  bool append;      // of a sink
  json_t *settings; // of a tree: the object for rdtree, unchanged; of a gathering: the complete stage
  int64_t in, out;  // link numbers; -1: none
  int64_t *ins;     // of a stage with several inputs, instead of `in`: their links, in order
  size_t in_count;
  char *part_host; // of a stage on several hosts: the name of this host; otherwise NULL
  unsigned part_rank, part_width;
};

enum rd_link_kind { RD_LINK_NULL, RD_LINK_STDIN, RD_LINK_STDOUT, RD_LINK_PIPE, RD_LINK_HOP, RD_LINK_LOCAL };

// The source or sink of a hop or a local link.
enum rd_link_party { RD_PARTY_STAGE, RD_PARTY_USER, RD_PARTY_NULL, RD_PARTY_RELAY };

struct rd_link_spec {
  int64_t number;
  enum rd_link_kind kind;
  enum rd_hop_side side; // of a hop
  enum rd_link_party source, sink;
  bool rdma;     // of a hop: RDMA may be used
  int64_t relay; // if the source is RD_PARTY_RELAY: the link that receives, on this host, the stream to pass on
  json_t *open;  // of a hop or a local link: its settings, an object that only the hop programs decode
};

struct rd_prepare_spec {
  unsigned segment;
  bool lenient;
  int64_t lease_ms, connect_timeout_ms;
  struct rd_stage_spec *stages;
  size_t stage_count;
  struct rd_link_spec *links;
  size_t link_count;
};

// Returns NULL (RD_CODE_USAGE) if a part is missing, of the wrong type or out of range, or if stages and links do not
// match. Free with rd_prepare_destroy().
struct rd_prepare_spec *rd_prepare_decode(json_t *object, struct rd_error *error);
void rd_prepare_destroy(struct rd_prepare_spec *prepare); // wipes the keys; NULL-safe

// Returns true for a source or a sink: it is opened by an end of a link and has no process of its own.
bool rd_prepare_is_file(const struct rd_stage_spec *stage);

// Returns the link that is the stage's input (`side` RD_SIDE_RECV) or output (RD_SIDE_SEND), or NULL.
const struct rd_link_spec *rd_prepare_link_of(const struct rd_prepare_spec *prepare, const struct rd_stage_spec *stage,
                                              enum rd_hop_side side);
// Returns true if the stage reads from (`side` RD_SIDE_RECV) or writes to (RD_SIDE_SEND) the link with that number.
bool rd_prepare_joins(const struct rd_stage_spec *stage, int64_t link, enum rd_hop_side side);
// Returns the stage that reads from (`side` RD_SIDE_RECV) or writes to (RD_SIDE_SEND) that link, or NULL.
const struct rd_stage_spec *rd_prepare_stage_of(const struct rd_prepare_spec *prepare, int64_t link,
                                                enum rd_hop_side side);

#endif
