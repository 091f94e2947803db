// SPDX-License-Identifier: Apache-2.0
// Tests of the decoder of rdpipe's requests.
#include "protocol/request.h"
#include "test.h"

#include <string.h>

#define HEAD "\"op\":\"prepare\",\"segment\":1,\"lenient\":false,\"lease_ms\":1000,"
#define TIMEOUT "\"connect_timeout_ms\":1,"
#define COMMAND                                                                                                        \
  "{\"stage\":1,\"kind\":\"command\",\"command\":\"6c73\",\"shell\":\"sh\",\"ok\":[0,3],\"in\":0,\"out\":1}"
#define COMMAND_HEAD "{\"stage\":1,\"kind\":\"command\",\"in\":0,\"out\":1,\"command\":"
#define OPEN "{\"key\":\"ab\",\"op\":5,\"more\":[null,{\"a\":1e9}]}"
#define HOP_HEAD "{\"link\":1,\"kind\":\"hop\",\"end\":\"send\",\"source\":\"stage\""
#define HOP HOP_HEAD ",\"open\":" OPEN "}"
#define LOCAL(ends) "{\"link\":1,\"kind\":\"local\"," ends ",\"open\":{\"key\":\"ab\"}}"
#define NULL_IN "{\"link\":0,\"kind\":\"null\"}"

static struct rd_error error;

static bool decodes(const char *line, struct rd_request *request) {
  return rd_request_decode(line, strlen(line), request, &error);
}

// Returns true if the line is refused with a message that contains these words.
static bool refuses(const char *line, const char *words) {
  struct rd_request request;
  if (!decodes(line, &request)) return error.code == RD_CODE_USAGE && strstr(error.message, words) != NULL;
  rd_request_clear(&request);
  return false;
}

static bool refuses_segment(const char *stages, const char *links, const char *words) {
  char line[4096];
  snprintf(line, sizeof line, "{" HEAD TIMEOUT "\"stages\":[%s],\"links\":[%s]}", stages, links);
  return refuses(line, words);
}

static void test_simple_requests(void) {
  struct rd_request request;
  CHECK(decodes("{\"op\":\"ping\"}", &request) && request.op == RD_REQUEST_PING);
  CHECK(decodes("{\"op\":\"go\",\"segment\":7}", &request) && request.segment == 7);
  CHECK(decodes("{\"op\":\"stderr_ack\",\"stage\":2,\"bytes\":65536}", &request));
  CHECK(request.stage == 2 && request.bytes == 65536);
  CHECK(decodes("{\"op\":\"abort\",\"reason\":\"a\\u0007b\"}", &request) && strcmp(request.reason, "a?b") == 0);
}

#define DIAL(addresses) "{\"op\":\"dial\",\"link\":1,\"end\":\"send\",\"addresses\":" addresses "}"
#define LISTEN(rest) "{\"op\":\"listen\",\"link\":3,\"end\":\"recv\"" rest "}"

// Checks that the request for a hop's end contains the object of the line, unchanged.
static void passes_on(const char *line, int64_t link, enum rd_hop_side side) {
  struct rd_request request;
  json_t *whole = json_loads(line, 0, NULL);
  REQUIRE(decodes(line, &request));
  CHECK(request.link == link && request.side == side && json_equal(request.object, whole));
  json_decref(whole);
  rd_request_clear(&request);
}

static void test_connecting(void) {
  passes_on(LISTEN(""), 3, RD_SIDE_RECV);
  passes_on(LISTEN(",\"transport\":\"tcp\",\"bind\":null"), 3, RD_SIDE_RECV);
  passes_on(LISTEN(",\"transport\":\"rdma\",\"bind\":\"10.0.0.2\""), 3, RD_SIDE_RECV);
  passes_on(DIAL("[{\"host\":\"::1\",\"port\":9}]"), 1, RD_SIDE_SEND);
  passes_on(DIAL("[{\"host\":\"::1\",\"port\":9,\"transport\":\"rdma\",\"from\":\"::2\"},{\"unix\":\"/a\"}]"), 1,
            RD_SIDE_SEND);
  CHECK(refuses(LISTEN(",\"transport\":\"udp\""), "unknown transport"));
  CHECK(refuses(LISTEN(",\"transport\":1"), "unknown transport"));
  CHECK(refuses(LISTEN(",\"bind\":1"), "bind is not an address"));
  CHECK(refuses("{\"op\":\"listen\",\"link\":3,\"end\":\"up\"}", "end is neither send nor recv"));
  CHECK(refuses(DIAL("[]"), "no addresses"));
  CHECK(refuses(DIAL("[{\"host\":\"::1\",\"port\":9,\"transport\":\"udp\"}]"), "unknown transport"));
  CHECK(refuses("{\"op\":\"dial\",\"link\":1,\"end\":\"up\",\"addresses\":[1]}", "end is neither send nor recv"));
}

static void test_invalid_requests(void) {
  static const struct {
    const char *line, *words;
  } lines[] = {
      {"", "rdpipe sent an invalid request: a line: "},
      {"x", "rdpipe sent an invalid request: a line: "},
      {"[]", "it has no operation"},
      {"{}", "it has no operation"},
      {"{\"op\":5}", "it has no operation"},
      {"{\"op\":\"fly\"}", "rdpipe sent an invalid request: fly: unknown operation"},
      {"{\"op\":\"ping\",\"op\":\"go\"}", "duplicate object key"},
      {"{\"op\":\"go\"}", "rdpipe sent an invalid request: go: "},
      {"{\"op\":\"go\",\"segment\":0}", "segment is out of range"},
      {"{\"op\":\"go\",\"segment\":\"1\"}", "rdpipe sent an invalid request: go: "},
      {"{\"op\":\"go\",\"segment\":4294967296}", "segment is out of range"},
      {"{\"op\":\"stderr_ack\",\"stage\":1,\"bytes\":-1}", "a number is out of range"},
      {"{\"op\":\"abort\"}", "rdpipe sent an invalid request: abort: "},
      {"{\"op\":\"prepare\"}", "rdpipe sent an invalid request: prepare: "},
      {"{\"op\":\"ping\"} {", "end of file expected"},
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) CHECK(refuses(lines[i].line, lines[i].words));
}

static void test_prepare(void) {
  struct rd_request request;
  REQUIRE(decodes("{" HEAD TIMEOUT "\"stages\":[" COMMAND "],\"links\":[" NULL_IN "," HOP "]}", &request));
  const struct rd_prepare_spec *prepare = request.prepare;
  REQUIRE(prepare != NULL && prepare->stage_count == 1 && prepare->link_count == 2);
  const struct rd_stage_spec *stage = prepare->stages;
  CHECK(stage->kind == RD_STAGE_COMMAND && strcmp(stage->text, "ls") == 0 && strcmp(stage->shell, "sh") == 0);
  CHECK(stage->ok[0] && stage->ok[3] && !stage->ok[1]);
  const struct rd_link_spec *link = rd_prepare_link_of(prepare, stage, RD_SIDE_SEND);
  REQUIRE(link == &prepare->links[1]);
  CHECK(link->kind == RD_LINK_HOP && link->side == RD_SIDE_SEND && link->source == RD_PARTY_STAGE);
  CHECK(rd_prepare_link_of(prepare, stage, RD_SIDE_RECV) == &prepare->links[0]);
  CHECK(rd_prepare_stage_of(prepare, 1, RD_SIDE_SEND) == stage &&
        rd_prepare_stage_of(prepare, 1, RD_SIDE_RECV) == NULL);
  CHECK(prepare->lease_ms == 1000 && prepare->connect_timeout_ms == 1);
  rd_request_clear(&request);
}

#define TREE_HEAD "{\"stage\":1,\"kind\":\"tree\",\"in\":0,\"out\":1"
#define SETTINGS "{\"role\":\"scan\",\"more\":[null,{\"a\":1e9}]}"

// A tree has a process, as a command has; its settings are not decoded.
static void test_tree(void) {
  struct rd_request request;
  json_t *settings = json_loads(SETTINGS, 0, NULL);
  REQUIRE(decodes("{" HEAD TIMEOUT "\"stages\":[" TREE_HEAD ",\"settings\":" SETTINGS
                  "},{\"stage\":2,\"kind\":\"tree\","
                  "\"in\":1,\"out\":2,\"settings\":{}}],\"links\":[" NULL_IN
                  ",{\"link\":1,\"kind\":\"pipe\"},{\"link\":2,\"kind\":\"stdout\"}]}",
                  &request));
  const struct rd_stage_spec *stage = request.prepare->stages;
  CHECK(stage->kind == RD_STAGE_TREE && stage->text == NULL && json_equal(stage->settings, settings));
  CHECK(stage->ok[0] && !stage->ok[1] && !rd_prepare_is_file(stage));
  CHECK(rd_prepare_link_of(request.prepare, stage, RD_SIDE_SEND)->kind == RD_LINK_PIPE);
  rd_request_clear(&request);
  json_decref(settings);
  CHECK(refuses_segment(TREE_HEAD "}", NULL_IN "," HOP, "settings is not an object"));
  CHECK(refuses_segment(TREE_HEAD ",\"settings\":[]}", NULL_IN "," HOP, "settings is not an object"));
  CHECK(refuses_segment(TREE_HEAD ",\"settings\":{}}", NULL_IN, "a stage has no output"));
}

// The agent does not decode the object, and wipes every text in it, because one is the key.
static void test_open_is_kept_as_it_came(void) {
  struct rd_request request;
  json_t *whole = json_loads(OPEN, 0, NULL);
  REQUIRE(decodes("{" HEAD TIMEOUT "\"stages\":[" COMMAND "],\"links\":[" NULL_IN "," HOP "]}", &request));
  json_t *open = json_incref(request.prepare->links[1].open);
  CHECK(json_equal(open, whole));
  rd_request_clear(&request);
  CHECK(json_string_value(json_object_get(open, "key"))[0] == '\0');
  json_decref(open);
  json_decref(whole);
  CHECK(refuses_segment(COMMAND, NULL_IN "," HOP_HEAD "}", "Object item not found: open"));
  CHECK(refuses_segment(COMMAND, NULL_IN "," HOP_HEAD ",\"open\":null}", "open is not an object"));
  CHECK(refuses_segment(COMMAND, NULL_IN "," HOP_HEAD ",\"open\":[]}", "open is not an object"));
  CHECK(refuses_segment(COMMAND, "{\"link\":1,\"kind\":\"local\",\"source\":\"stage\",\"sink\":\"null\",\"open\":5}",
                        "open is not an object"));
}

static void test_prepare_that_does_not_fit(void) {
  const char *sink = "{\"stage\":2,\"kind\":\"sink\",\"word\":\"66\",\"append\":false,\"in\":1}";
  const char *pipe = NULL_IN ",{\"link\":1,\"kind\":\"pipe\"}";
  const char *local = LOCAL("\"source\":\"stage\",\"sink\":\"stage\"");
  char both[1024];
  CHECK(refuses_segment(COMMAND, NULL_IN, "a stage has no output"));
  CHECK(refuses_segment(COMMAND, HOP, "a stage has no input"));
  CHECK(refuses_segment(COMMAND, pipe, "a link does not fit its stages")); // no reader
  CHECK(refuses_segment("", local, "a link does not fit its stages"));     // nothing to join
  CHECK(refuses_segment(COMMAND "," COMMAND, NULL_IN "," HOP,
                        "a link does not fit its stages")); // two stages at one end
  snprintf(both, sizeof both, "%s,%s", COMMAND, sink);
  CHECK(refuses_segment(both, pipe, "a stage has no input")); // a file does not read a pipe
  CHECK(refuses_segment(COMMAND, "{\"link\":1,\"kind\":\"hop\",\"end\":\"up\",\"open\":{}}",
                        "end is neither send nor recv"));
  CHECK(refuses_segment(COMMAND, "{\"link\":1,\"kind\":\"hop\",\"end\":5,\"open\":{}}", "prepare: "));
  CHECK(refuses_segment(COMMAND, LOCAL("\"source\":\"sky\",\"sink\":\"null\""), "unknown source or sink of a link"));
  CHECK(refuses_segment(COMMAND, LOCAL("\"source\":\"stage\""), "prepare: "));
  CHECK(refuses_segment("{\"stage\":1,\"kind\":\"source\",\"word\":\"6\",\"out\":1}", local,
                        "a file's word is not hexadecimal"));
  CHECK(refuses_segment("{\"stage\":1,\"kind\":\"source\",\"word\":\"6600\",\"out\":1}", local, // a NUL
                        "a file's word is not hexadecimal"));
  CHECK(refuses_segment("{\"stage\":1,\"kind\":\"dream\",\"out\":1}", local, "unknown kind of stage"));
  CHECK(refuses_segment("{\"stage\":0,\"kind\":\"dream\",\"out\":1}", local, "a stage's number is out of range"));
  CHECK(refuses_segment(COMMAND_HEAD "\"7\",\"shell\":\"sh\",\"ok\":[0]}", local,
                        "a command is not hexadecimal, or has no shell"));
  CHECK(refuses_segment(COMMAND_HEAD "\"70\",\"shell\":\"\",\"ok\":[0]}", local,
                        "a command is not hexadecimal, or has no shell"));
  CHECK(refuses_segment(COMMAND_HEAD "\"70\",\"shell\":\"sh\",\"ok\":1}", local, "ok is not a list"));
  CHECK(refuses_segment(COMMAND_HEAD "\"70\",\"shell\":\"sh\",\"ok\":[256]}", local,
                        "ok has a value that is not an exit status"));
  CHECK(refuses_segment("5", local, "prepare: "));
  CHECK(refuses_segment(COMMAND, "{\"link\":0,\"kind\":\"rope\"}", "unknown kind of link"));
  CHECK(refuses_segment(COMMAND, "{\"link\":-1,\"kind\":\"null\"}", "a link's number is out of range"));
  CHECK(refuses("{" HEAD "\"connect_timeout_ms\":0,\"stages\":[],\"links\":[]}", "a number is out of range"));
  CHECK(refuses("{" HEAD TIMEOUT "\"stages\":5,\"links\":[]}", "stages is not a list, or too long"));
  CHECK(refuses("{" HEAD TIMEOUT "\"stages\":[],\"links\":5}", "links is not a list, or too long"));
}

int main(void) {
  test_simple_requests();
  test_connecting();
  test_invalid_requests();
  test_prepare();
  test_tree();
  test_open_is_kept_as_it_came();
  test_prepare_that_does_not_fit();
  return test_end("rdstage request");
}
