// SPDX-License-Identifier: Apache-2.0
// The request that describes a segment: its stages and the links that touch this host.
#ifndef RD_STAGE_PREPARE_H
#define RD_STAGE_PREPARE_H

#include "error.h"

#include <jansson.h>
#include <stdint.h>

#define PREPARE_STAGES_MAX 256u

enum hop_side { HOP_SEND, HOP_RECV };
const char *hop_side_name(enum hop_side end); // "send", "recv"

enum stage_kind { STAGE_COMMAND, STAGE_SOURCE, STAGE_SINK };

struct stage_spec {
  unsigned number;
  enum stage_kind kind;
  char *text;      // the command, or the file's word
  char *shell;     // of a command
  bool ok[256];    // of a command: statuses that count as success
  bool append;     // of a sink
  int64_t in, out; // link numbers; -1: none
};

enum link_kind { LINK_NULL, LINK_STDIN, LINK_STDOUT, LINK_PIPE, LINK_HOP, LINK_LOCAL };

// What stands at an end of a hop or a local link.
enum link_party { PARTY_STAGE, PARTY_USER, PARTY_NULL };

struct link_spec {
  int64_t number;
  enum link_kind kind;
  enum hop_side end; // of a hop
  enum link_party source, sink;
  char *key;                                       // hexadecimal
  const char *encrypt;                             // "always", "auth", "never", "tcp"
  int64_t compress_level, jobs, limit_bytes_per_s; // of a hop; as its programs are told
  bool numa;
  int64_t buffer_bytes;
  char *bind; // NULL: every address
  int ports[2];
  bool poll;
};

struct prepare_spec {
  unsigned segment;
  char *run;
  bool lenient;
  int64_t lease_ms, connect_timeout_ms, stall_timeout_ms;
  struct stage_spec *stages;
  size_t stage_count;
  struct link_spec *links;
  size_t link_count;
};

// NULL (RD_CODE_USAGE) when a part is missing, of the wrong kind or out of range, or when stages and links do not fit
// together. Free with prepare_destroy().
struct prepare_spec *prepare_decode(json_t *object, struct rd_error *error);
void prepare_destroy(struct prepare_spec *prepare); // wipes the keys; NULL-safe

// The link that stage takes as its input (`end` HOP_RECV) or output (HOP_SEND), or NULL.
const struct link_spec *prepare_link_of(const struct prepare_spec *prepare, const struct stage_spec *stage,
                                        enum hop_side end);
// The stage that reads from (`end` HOP_RECV) or writes to (HOP_SEND) that link, or NULL.
const struct stage_spec *prepare_stage_of(const struct prepare_spec *prepare, int64_t link, enum hop_side end);

#endif
