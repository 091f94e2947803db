// SPDX-License-Identifier: Apache-2.0
// Fuzzes the decoder of requests: bytes that arrive on a socket in pieces become lines and requests.
#include "base/cleanup.h"
#include "base/io.h"
#include "fuzz.h"
#include "protocol/request.h"
#include "runtime/lines.h"

#include <sys/socket.h>

#define PIECE_MAX_BYTES 65536u

static bool decode(void *context, const char *line, size_t bytes);
static void check_prepare(const struct rd_prepare_spec *prepare);
static void check_link(const struct rd_prepare_spec *prepare, const struct rd_link_spec *link);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz_input input = {data, size};
  int ends[2];
  struct rd_error error;
  FUZZ_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  RD_AUTO_CLOSE int controller = ends[0];
  RD_AUTO_CLOSE int agent = ends[1];
  struct rd_line_reader *reader = rd_line_reader_create(agent, RD_REQUEST_LINE_MAX_BYTES);
  enum rd_lines_state state = RD_LINES_MORE;
  while (state == RD_LINES_MORE && input.left > 0) {
    const uint8_t *bytes;
    size_t count = fuzz_take(&input, PIECE_MAX_BYTES, &bytes);
    FUZZ_REQUIRE(rd_write_all(controller, bytes, count));
    state = rd_line_reader_take(reader, decode, &error, &error);
  }
  FUZZ_REQUIRE(state != RD_LINES_END && (state == RD_LINES_MORE || error.code == RD_CODE_USAGE));
  rd_line_reader_destroy(reader);
  return 0;
}

static bool decode(void *context, const char *line, size_t bytes) {
  struct rd_error *error = context;
  struct rd_request request;
  FUZZ_REQUIRE(line[bytes] == '\0');
  if (!rd_request_decode(line, bytes, &request, error)) return false;
  if (request.prepare != NULL) check_prepare(request.prepare);
  FUZZ_REQUIRE(request.op != RD_REQUEST_GO || request.segment > 0);
  FUZZ_REQUIRE(request.op != RD_REQUEST_STDERR_ACK || request.stage > 0);
  rd_request_clear(&request);
  return true;
}

// A decoded segment contains the links of each stage and the stages of each link.
static void check_prepare(const struct rd_prepare_spec *prepare) {
  FUZZ_REQUIRE(prepare->segment > 0 && prepare->lease_ms > 0 && prepare->stage_count <= RD_PREPARE_STAGES_MAX);
  for (size_t i = 0; i < prepare->stage_count; i++) {
    const struct rd_stage_spec *stage = &prepare->stages[i];
    bool is_ours = stage->kind == RD_STAGE_TREE || stage->kind == RD_STAGE_GATHER;
    FUZZ_REQUIRE((stage->text == NULL) == (is_ours || stage->kind == RD_STAGE_FORWARD));
    FUZZ_REQUIRE(is_ours == json_is_object(stage->settings));
    FUZZ_REQUIRE(stage->kind != RD_STAGE_GATHER || stage->in_count > 0);
    FUZZ_REQUIRE(stage->shell == NULL || (stage->kind == RD_STAGE_COMMAND && *stage->shell));
    FUZZ_REQUIRE(stage->part_host == NULL || stage->part_rank < stage->part_width);
    if (stage->kind != RD_STAGE_SOURCE) FUZZ_REQUIRE(rd_prepare_link_of(prepare, stage, RD_SIDE_RECV) != NULL);
    if (stage->kind != RD_STAGE_SINK) FUZZ_REQUIRE(rd_prepare_link_of(prepare, stage, RD_SIDE_SEND) != NULL);
  }
  for (size_t i = 0; i < prepare->link_count; i++) check_link(prepare, &prepare->links[i]);
}

static void check_link(const struct rd_prepare_spec *prepare, const struct rd_link_spec *link) {
  if (link->kind == RD_LINK_HOP || link->kind == RD_LINK_LOCAL) FUZZ_REQUIRE(json_is_object(link->open));
  if (link->kind != RD_LINK_PIPE) return;
  const struct rd_stage_spec *from = rd_prepare_stage_of(prepare, link->number, RD_SIDE_SEND);
  const struct rd_stage_spec *to = rd_prepare_stage_of(prepare, link->number, RD_SIDE_RECV);
  FUZZ_REQUIRE(from != NULL && to != NULL && !rd_prepare_is_file(from) && !rd_prepare_is_file(to));
}
