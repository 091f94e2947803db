// SPDX-License-Identifier: Apache-2.0
#include "protocol/prepare.h"

#include "base/hex.h"
#include "base/json_lines.h"
#include "base/memory.h"
#include "base/option_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Together with its `op` the object must fit into one line for the program.
#define OPEN_MAX_BYTES (RD_JSON_LINE_MAX_BYTES / 2)
#define TIME_MAX_MS (30LL * 24 * 3600 * 1000)

static bool decode_header(json_t *object, struct rd_prepare_spec *prepare, struct rd_error *error);
static bool decode_stages(json_t *array, struct rd_prepare_spec *prepare, struct rd_error *error);
static bool decode_stage(json_t *object, struct rd_stage_spec *stage, struct rd_error *error);
static bool decode_part(json_t *object, struct rd_stage_spec *stage, struct rd_error *error);
static bool decode_command(json_t *object, struct rd_stage_spec *stage, struct rd_error *error);
static bool decode_tree(json_t *object, struct rd_stage_spec *stage, struct rd_error *error);
static bool decode_ins(const json_t *ins, struct rd_stage_spec *stage, struct rd_error *error);
static bool decode_gather(json_t *object, struct rd_stage_spec *stage, struct rd_error *error);
static bool decode_file(json_t *object, struct rd_stage_spec *stage, struct rd_error *error);
static bool decode_ok(const json_t *array, struct rd_stage_spec *stage, struct rd_error *error);
static bool decode_links(json_t *array, struct rd_prepare_spec *prepare, struct rd_error *error);
static bool decode_link(json_t *object, struct rd_link_spec *link, struct rd_error *error);
static bool decode_hop(json_t *object, struct rd_link_spec *link, struct rd_error *error);
static bool decode_local(json_t *object, struct rd_link_spec *link, struct rd_error *error);
static bool decode_open(json_t *open, struct rd_link_spec *link, struct rd_error *error);
static bool decode_party(const char *text, enum rd_link_party *party, struct rd_error *error);
static bool decode_relay(const json_t *object, struct rd_link_spec *link, struct rd_error *error);
static char *text_from_hex(const char *digits);
static bool is_relayed(const struct rd_prepare_spec *prepare, const struct rd_link_spec *link);
static bool check_stages(const struct rd_prepare_spec *prepare, struct rd_error *error);
static bool has_inputs(const struct rd_prepare_spec *prepare, const struct rd_stage_spec *stage);
static bool check_links(const struct rd_prepare_spec *prepare, struct rd_error *error);
static bool gives(const struct rd_link_spec *link, const struct rd_stage_spec *stage, enum rd_hop_side side);
static bool fits(const struct rd_prepare_spec *prepare, const struct rd_link_spec *link, enum rd_hop_side side);
static bool invalid(struct rd_error *error, const char *reason);

struct rd_prepare_spec *rd_prepare_decode(json_t *object, struct rd_error *error) {
  struct rd_prepare_spec *prepare = rd_memory_new(1, sizeof *prepare);
  if (decode_header(object, prepare, error) && decode_stages(json_object_get(object, "stages"), prepare, error) &&
      decode_links(json_object_get(object, "links"), prepare, error) && check_stages(prepare, error) &&
      check_links(prepare, error))
    return prepare;
  rd_prepare_destroy(prepare);
  return NULL;
}

void rd_prepare_destroy(struct rd_prepare_spec *prepare) {
  if (prepare == NULL) return;
  for (size_t i = 0; i < prepare->stage_count; i++) {
    free(prepare->stages[i].text);
    free(prepare->stages[i].shell);
    free(prepare->stages[i].part_host);
    free(prepare->stages[i].ins);
    json_decref(prepare->stages[i].settings);
  }
  for (size_t i = 0; i < prepare->link_count; i++) rd_json_destroy(prepare->links[i].open);
  free(prepare->stages);
  free(prepare->links);
  free(prepare);
}

const char *rd_hop_side_name(enum rd_hop_side side) {
  return side == RD_SIDE_SEND ? "send" : "recv";
}

bool rd_prepare_is_file(const struct rd_stage_spec *stage) {
  return stage->kind == RD_STAGE_SOURCE || stage->kind == RD_STAGE_SINK;
}

const struct rd_link_spec *rd_prepare_link_of(const struct rd_prepare_spec *prepare, const struct rd_stage_spec *stage,
                                              enum rd_hop_side side) {
  for (size_t i = 0; i < prepare->link_count; i++)
    if (rd_prepare_joins(stage, prepare->links[i].number, side) && gives(&prepare->links[i], stage, side))
      return &prepare->links[i];
  return NULL;
}

const struct rd_stage_spec *rd_prepare_stage_of(const struct rd_prepare_spec *prepare, int64_t link,
                                                enum rd_hop_side side) {
  for (size_t i = 0; i < prepare->stage_count; i++) {
    const struct rd_stage_spec *stage = &prepare->stages[i];
    if (rd_prepare_joins(stage, link, side)) return stage;
  }
  return NULL;
}

bool rd_prepare_joins(const struct rd_stage_spec *stage, int64_t link, enum rd_hop_side side) {
  if (side == RD_SIDE_SEND) return stage->out == link;
  for (size_t i = 0; i < stage->in_count; i++)
    if (stage->ins[i] == link) return true;
  return stage->in_count == 0 && stage->in == link;
}

static bool decode_header(json_t *object, struct rd_prepare_spec *prepare, struct rd_error *error) {
  json_int_t segment, lease, connect_timeout;
  int lenient;
  json_error_t why;
  if (json_unpack_ex(object, &why, 0, "{s:I,s:b,s:I,s:I}", "segment", &segment, "lenient", &lenient, "lease_ms", &lease,
                     "connect_timeout_ms", &connect_timeout))
    return invalid(error, why.text);
  if (segment < 1 || segment > UINT32_MAX || lease < 1 || lease > TIME_MAX_MS || connect_timeout < 1 ||
      connect_timeout > TIME_MAX_MS)
    return invalid(error, "a number is out of range");
  prepare->segment = (unsigned)segment;
  prepare->lenient = lenient;
  prepare->lease_ms = lease;
  prepare->connect_timeout_ms = connect_timeout;
  return true;
}

static bool decode_stages(json_t *array, struct rd_prepare_spec *prepare, struct rd_error *error) {
  if (!json_is_array(array) || json_array_size(array) > RD_PREPARE_STAGES_MAX)
    return invalid(error, "stages is not a list, or too long");
  prepare->stages = rd_memory_new(json_array_size(array), sizeof *prepare->stages);
  for (size_t i = 0; i < json_array_size(array); i++)
    if (!decode_stage(json_array_get(array, i), &prepare->stages[prepare->stage_count++], error)) return false;
  return true;
}

static bool decode_stage(json_t *object, struct rd_stage_spec *stage, struct rd_error *error) {
  json_int_t number, in = -1, out = -1;
  const char *kind;
  json_error_t why;
  if (json_unpack_ex(object, &why, 0, "{s:I,s:s,s?I,s?I}", "stage", &number, "kind", &kind, "in", &in, "out", &out))
    return invalid(error, why.text);
  if (number < 1 || number > UINT32_MAX) return invalid(error, "a stage's number is out of range");
  stage->number = (unsigned)number;
  stage->in = in;
  stage->out = out;
  if (!decode_part(json_object_get(object, "part"), stage, error)) return false;
  if (strcmp(kind, "command") == 0) return decode_command(object, stage, error);
  if (strcmp(kind, "tree") == 0) return decode_tree(object, stage, error);
  if (strcmp(kind, "gather") == 0) return decode_gather(object, stage, error);
  if (strcmp(kind, "forward") == 0) {
    stage->kind = RD_STAGE_FORWARD;
    stage->ok[0] = true;
    return true;
  }
  if (strcmp(kind, "source") != 0 && strcmp(kind, "sink") != 0) return invalid(error, "unknown kind of stage");
  stage->kind = strcmp(kind, "source") == 0 ? RD_STAGE_SOURCE : RD_STAGE_SINK;
  return decode_file(object, stage, error);
}

// If absent, the stage runs on one host.
static bool decode_part(json_t *object, struct rd_stage_spec *stage, struct rd_error *error) {
  const char *host;
  json_int_t rank, width;
  json_error_t why;
  if (object == NULL) return true;
  if (json_unpack_ex(object, &why, 0, "{s:s,s:I,s:I}", "host", &host, "rank", &rank, "width", &width))
    return invalid(error, why.text);
  if (rank < 0 || width > UINT32_MAX || rank >= width) return invalid(error, "the rank of a part is out of range");
  stage->part_host = rd_memory_copy(host, strlen(host));
  stage->part_rank = (unsigned)rank;
  stage->part_width = (unsigned)width;
  return true;
}

static bool decode_command(json_t *object, struct rd_stage_spec *stage, struct rd_error *error) {
  const char *command, *shell = NULL;
  json_t *ok;
  json_error_t why;
  int lenient = 0;
  if (json_unpack_ex(object, &why, 0, "{s:s,s?s,s:o,s?b}", "command", &command, "shell", &shell, "ok", &ok, "lenient",
                     &lenient))
    return invalid(error, why.text);
  stage->kind = RD_STAGE_COMMAND;
  stage->lenient = lenient;
  stage->text = text_from_hex(command);
  if (shell != NULL) stage->shell = rd_memory_copy(shell, strlen(shell));
  if (stage->text == NULL || (shell != NULL && !*shell))
    return invalid(error, "a command is not hexadecimal, or has no shell");
  return decode_ok(ok, stage, error);
}

// Only rdtree decodes its settings.
static bool decode_tree(json_t *object, struct rd_stage_spec *stage, struct rd_error *error) {
  json_t *settings = json_object_get(object, "settings");
  stage->kind = RD_STAGE_TREE;
  stage->ok[0] = true;
  if (!json_is_object(settings)) return invalid(error, "settings is not an object");
  stage->settings = json_incref(settings);
  const json_t *ins = json_object_get(object, "ins");
  return ins == NULL || decode_ins(ins, stage, error);
}

// The labels become arguments of rdgather, which are text.
static bool decode_gather(json_t *object, struct rd_stage_spec *stage, struct rd_error *error) {
  const char *mode;
  json_t *ins, *labels = NULL;
  json_error_t why;
  if (json_unpack_ex(object, &why, 0, "{s:s,s:o,s?o}", "mode", &mode, "ins", &ins, "labels", &labels))
    return invalid(error, why.text);
  size_t count = json_array_size(ins);
  if (labels != NULL && json_array_size(labels) != count) return invalid(error, "labels and ins differ in length");
  stage->kind = RD_STAGE_GATHER;
  stage->ok[0] = true;
  stage->settings = json_incref(object);
  for (size_t i = 0; labels != NULL && i < count; i++)
    if (!json_is_string(json_array_get(labels, i))) return invalid(error, "labels has an item that is not text");
  return decode_ins(ins, stage, error);
}

static bool decode_ins(const json_t *ins, struct rd_stage_spec *stage, struct rd_error *error) {
  size_t count = json_array_size(ins);
  if (count == 0 || count > RD_PREPARE_STAGES_MAX) return invalid(error, "ins is not a list, or too long");
  stage->ins = rd_memory_new(count, sizeof *stage->ins);
  stage->in_count = count;
  for (size_t i = 0; i < count; i++) {
    stage->ins[i] = json_is_integer(json_array_get(ins, i)) ? json_integer_value(json_array_get(ins, i)) : -1;
    if (stage->ins[i] < 0) return invalid(error, "ins has an item that is not a number");
  }
  return true;
}

static bool decode_file(json_t *object, struct rd_stage_spec *stage, struct rd_error *error) {
  const char *word;
  int append = 0;
  json_error_t why;
  if (json_unpack_ex(object, &why, 0, "{s:s,s?b}", "word", &word, "append", &append)) return invalid(error, why.text);
  stage->text = text_from_hex(word);
  stage->append = append;
  return stage->text != NULL || invalid(error, "a file's word is not hexadecimal");
}

static bool decode_ok(const json_t *array, struct rd_stage_spec *stage, struct rd_error *error) {
  if (!json_is_array(array)) return invalid(error, "ok is not a list");
  stage->ok[0] = true;
  for (size_t i = 0; i < json_array_size(array); i++) {
    const json_t *status = json_array_get(array, i);
    json_int_t value = json_integer_value(status);
    if (!json_is_integer(status) || value < 0 || value > 255)
      return invalid(error, "ok has a value that is not an exit status");
    stage->ok[value] = true;
  }
  return true;
}

static bool decode_links(json_t *array, struct rd_prepare_spec *prepare, struct rd_error *error) {
  if (!json_is_array(array) || json_array_size(array) > 2 * RD_PREPARE_STAGES_MAX)
    return invalid(error, "links is not a list, or too long");
  prepare->links = rd_memory_new(json_array_size(array), sizeof *prepare->links);
  for (size_t i = 0; i < json_array_size(array); i++)
    if (!decode_link(json_array_get(array, i), &prepare->links[prepare->link_count++], error)) return false;
  return true;
}

static bool decode_link(json_t *object, struct rd_link_spec *link, struct rd_error *error) {
  static const char *const kinds[] = {"null", "stdin", "stdout", "pipe", "hop", "local", NULL}; // enum rd_link_kind
  json_int_t number;
  const char *kind;
  json_error_t why;
  if (json_unpack_ex(object, &why, 0, "{s:I,s:s}", "link", &number, "kind", &kind)) return invalid(error, why.text);
  if (number < 0 || number > UINT32_MAX) return invalid(error, "a link's number is out of range");
  link->number = number;
  link->relay = -1;
  int found = rd_option_word(kind, kinds);
  if (found < 0) return invalid(error, "unknown kind of link");
  link->kind = (enum rd_link_kind)found;
  if (link->kind == RD_LINK_HOP) return decode_hop(object, link, error);
  return link->kind != RD_LINK_LOCAL || decode_local(object, link, error);
}

static bool decode_hop(json_t *object, struct rd_link_spec *link, struct rd_error *error) {
  const char *end, *source = "null", *sink = "null";
  json_t *open;
  json_error_t why;
  int rdma = false;
  if (json_unpack_ex(object, &why, 0, "{s:s,s?s,s?s,s?b,s:o}", "end", &end, "source", &source, "sink", &sink, "rdma",
                     &rdma, "open", &open))
    return invalid(error, why.text);
  link->rdma = rdma;
  link->side = strcmp(end, "send") == 0 ? RD_SIDE_SEND : RD_SIDE_RECV;
  if (link->side == RD_SIDE_RECV && strcmp(end, "recv") != 0) return invalid(error, "end is neither send nor recv");
  return decode_open(open, link, error) && decode_party(source, &link->source, error) &&
         decode_party(sink, &link->sink, error) && decode_relay(object, link, error);
}

static bool decode_local(json_t *object, struct rd_link_spec *link, struct rd_error *error) {
  const char *source, *sink;
  json_t *open;
  json_error_t why;
  if (json_unpack_ex(object, &why, 0, "{s:s,s:s,s:o}", "source", &source, "sink", &sink, "open", &open))
    return invalid(error, why.text);
  return decode_open(open, link, error) && decode_party(source, &link->source, error) &&
         decode_party(sink, &link->sink, error) && decode_relay(object, link, error);
}

static bool decode_open(json_t *open, struct rd_link_spec *link, struct rd_error *error) {
  if (!json_is_object(open)) return invalid(error, "open is not an object");
  if (json_dumpb(open, NULL, 0, JSON_COMPACT) > OPEN_MAX_BYTES) return invalid(error, "open is too long");
  link->open = json_incref(open);
  return true;
}

static bool decode_party(const char *text, enum rd_link_party *party, struct rd_error *error) {
  bool user = strcmp(text, "stdin") == 0 || strcmp(text, "stdout") == 0;
  bool stage = strcmp(text, "stage") == 0, relay = strcmp(text, "relay") == 0;
  if (!user && !stage && !relay && strcmp(text, "null") != 0) return invalid(error, "unknown source or sink of a link");
  *party = user ? RD_PARTY_USER : stage ? RD_PARTY_STAGE : relay ? RD_PARTY_RELAY : RD_PARTY_NULL;
  return true;
}

static bool decode_relay(const json_t *object, struct rd_link_spec *link, struct rd_error *error) {
  const json_t *relay = json_object_get(object, "relay");
  bool is_relay = link->source == RD_PARTY_RELAY;
  link->relay = is_relay ? json_integer_value(relay) : -1;
  bool is_right = is_relay ? json_is_integer(relay) && link->relay >= 0 : relay == NULL;
  return (is_right && link->sink != RD_PARTY_RELAY) || invalid(error, "a relay without its link");
}

// Returns NULL if the text is not hexadecimal, or contains a NUL, which an argument cannot have.
static char *text_from_hex(const char *digits) {
  size_t count = strlen(digits), bytes;
  char *text = rd_memory_new(count / 2 + 1, 1);
  if (rd_hex_decode(digits, count, (unsigned char *)text, count / 2, &bytes) && memchr(text, '\0', bytes) == NULL)
    return text;
  free(text);
  return NULL;
}

// Checks that every stage has its links.
static bool check_stages(const struct rd_prepare_spec *prepare, struct rd_error *error) {
  for (size_t i = 0; i < prepare->stage_count; i++) {
    const struct rd_stage_spec *stage = &prepare->stages[i];
    if (stage->kind != RD_STAGE_SOURCE && rd_prepare_link_of(prepare, stage, RD_SIDE_RECV) == NULL)
      return invalid(error, "a stage has no input");
    if (stage->kind != RD_STAGE_SINK && rd_prepare_link_of(prepare, stage, RD_SIDE_SEND) == NULL)
      return invalid(error, "a stage has no output");
    if (!has_inputs(prepare, stage)) return invalid(error, "a stage with several inputs lacks one");
  }
  return true;
}

static bool has_inputs(const struct rd_prepare_spec *prepare, const struct rd_stage_spec *stage) {
  for (size_t i = 0; i < stage->in_count; i++) {
    bool any = false;
    for (size_t j = 0; j < prepare->link_count; j++)
      any |= prepare->links[j].number == stage->ins[i] && gives(&prepare->links[j], stage, RD_SIDE_RECV);
    if (!any) return false;
  }
  return true;
}

// Checks that every link has its stages, one at each end.
static bool check_links(const struct rd_prepare_spec *prepare, struct rd_error *error) {
  for (size_t i = 0; i < prepare->link_count; i++)
    if (!fits(prepare, &prepare->links[i], RD_SIDE_SEND) || !fits(prepare, &prepare->links[i], RD_SIDE_RECV))
      return invalid(error, "a link does not fit its stages");
  for (size_t i = 0; i < prepare->link_count; i++)
    if (prepare->links[i].relay >= 0 && !is_relayed(prepare, &prepare->links[i]))
      return invalid(error, "a relay does not fit its links");
  return true;
}

// Returns true if one link here receives the stream that `link` passes on, and no other link passes on that stream.
static bool is_relayed(const struct rd_prepare_spec *prepare, const struct rd_link_spec *link) {
  size_t receivers = 0, others = 0;
  for (size_t i = 0; i < prepare->link_count; i++) {
    const struct rd_link_spec *other = &prepare->links[i];
    bool receives = other->kind == RD_LINK_LOCAL || (other->kind == RD_LINK_HOP && other->side == RD_SIDE_RECV);
    if (receives && other->number == link->relay) receivers++;
    if (other != link && other->relay == link->relay) others++;
  }
  return receivers == 1 && others == 0 && link->relay != link->number;
}

static bool gives(const struct rd_link_spec *link, const struct rd_stage_spec *stage, enum rd_hop_side side) {
  bool has_process = !rd_prepare_is_file(stage);
  switch (link->kind) {
  case RD_LINK_NULL:
  case RD_LINK_PIPE:
    return has_process;
  case RD_LINK_STDIN:
    return has_process && side == RD_SIDE_RECV;
  case RD_LINK_STDOUT:
    return has_process && side == RD_SIDE_SEND;
  case RD_LINK_HOP:
    return link->side == side && (side == RD_SIDE_SEND ? link->source : link->sink) == RD_PARTY_STAGE;
  case RD_LINK_LOCAL:
    return (side == RD_SIDE_SEND ? link->source : link->sink) == RD_PARTY_STAGE;
  }
  return false;
}

static bool fits(const struct rd_prepare_spec *prepare, const struct rd_link_spec *link, enum rd_hop_side side) {
  size_t stages = 0;
  for (size_t i = 0; i < prepare->stage_count; i++)
    if (rd_prepare_joins(&prepare->stages[i], link->number, side) && gives(link, &prepare->stages[i], side)) stages++;
  switch (link->kind) {
  case RD_LINK_NULL:
  case RD_LINK_STDIN:
  case RD_LINK_STDOUT:
    return stages <= 1;
  case RD_LINK_PIPE:
    return stages == 1;
  case RD_LINK_HOP:
    if (link->side != side) return true;
    break;
  case RD_LINK_LOCAL:
    break;
  }
  return stages == ((side == RD_SIDE_SEND ? link->source : link->sink) == RD_PARTY_STAGE ? 1 : 0);
}

static bool invalid(struct rd_error *error, const char *reason) {
  rd_error_set(error, RD_CODE_USAGE, "rdpipe sent an invalid request: prepare: %.256s", reason);
  return false;
}
