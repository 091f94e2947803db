// SPDX-License-Identifier: Apache-2.0
// Decoding of what rdpipe asks.
#include "protocol/request.h"
#include "test.h"

#include <string.h>

#define HEAD "\"op\":\"prepare\",\"segment\":1,\"run\":\"r\",\"lenient\":false,\"lease_ms\":1000,"
#define TIMES "\"connect_timeout_ms\":1,\"stall_timeout_ms\":2,"
#define COMMAND                                                                                                        \
  "{\"stage\":1,\"kind\":\"command\",\"command\":\"6c73\",\"shell\":\"sh\",\"ok\":[0,3],\"in\":0,\"out\":1}"
#define COMMAND_HEAD "{\"stage\":1,\"kind\":\"command\",\"in\":0,\"out\":1,\"command\":"
#define HOP_HEAD "{\"link\":1,\"kind\":\"hop\",\"end\":\"send\",\"key\":\"ab\",\"source\":\"stage\","
#define HOP HOP_HEAD "\"encrypt\":\"tcp\","
#define STREAM ",\"compress\":3,\"jobs\":4,\"limit\":5000000000,\"numa\":false"
#define HOP_END "\"buffer\":4096,\"bind\":\"10.0.0.1\",\"ports\":[5,9],\"poll\":true" STREAM "}"
#define NULL_IN "{\"link\":0,\"kind\":\"null\"}"

static struct rd_error error;

static bool decodes(const char *line, struct rd_request *request) {
  return rd_request_decode(line, strlen(line), request, &error);
}

// In a message that has these words.
static bool refuses(const char *line, const char *words) {
  struct rd_request request;
  if (!decodes(line, &request)) return error.code == RD_CODE_USAGE && strstr(error.message, words) != NULL;
  rd_request_clear(&request);
  return false;
}

static bool refuses_segment(const char *stages, const char *links, const char *words) {
  char line[4096];
  snprintf(line, sizeof line, "{" HEAD TIMES "\"stages\":[%s],\"links\":[%s]}", stages, links);
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

// What it is told is what it came with.
static void passes_on(const char *line, int64_t link, enum rd_hop_side end) {
  struct rd_request request;
  json_t *whole = json_loads(line, 0, NULL);
  REQUIRE(decodes(line, &request));
  CHECK(request.link == link && request.end == end && json_equal(request.order, whole));
  json_decref(whole);
  rd_request_clear(&request);
}

static void test_connecting(void) {
  passes_on(LISTEN(""), 3, RD_HOP_RECV);
  passes_on(LISTEN(",\"transport\":\"tcp\",\"bind\":null"), 3, RD_HOP_RECV);
  passes_on(LISTEN(",\"transport\":\"rdma\",\"bind\":\"10.0.0.2\""), 3, RD_HOP_RECV);
  passes_on(DIAL("[{\"host\":\"::1\",\"port\":9}]"), 1, RD_HOP_SEND);
  passes_on(DIAL("[{\"host\":\"::1\",\"port\":9,\"transport\":\"rdma\",\"from\":\"::2\"},{\"unix\":\"/a\"}]"), 1,
            RD_HOP_SEND);
  CHECK(refuses(LISTEN(",\"transport\":\"udp\""), "there is no such transport"));
  CHECK(refuses(LISTEN(",\"transport\":1"), "there is no such transport"));
  CHECK(refuses(LISTEN(",\"bind\":1"), "bind is no address"));
  CHECK(refuses("{\"op\":\"listen\",\"link\":3,\"end\":\"up\"}", "end is send or recv"));
  CHECK(refuses(DIAL("[]"), "there are no addresses"));
  CHECK(refuses(DIAL("[{\"host\":\"::1\",\"port\":9,\"transport\":\"udp\"}]"), "there is no such transport"));
  CHECK(refuses("{\"op\":\"dial\",\"link\":1,\"end\":\"up\",\"addresses\":[1]}", "end is send or recv"));
}

static void test_nonsense(void) {
  static const struct {
    const char *line, *words;
  } lines[] = {
      {"", "the agent was sent nonsense: a line: "},
      {"x", "the agent was sent nonsense: a line: "},
      {"[]", "it names no operation"},
      {"{}", "it names no operation"},
      {"{\"op\":5}", "it names no operation"},
      {"{\"op\":\"fly\"}", "the agent was sent nonsense: fly: there is no such operation"},
      {"{\"op\":\"ping\",\"op\":\"go\"}", "duplicate object key"},
      {"{\"op\":\"go\"}", "the agent was sent nonsense: go: "},
      {"{\"op\":\"go\",\"segment\":0}", "segment is out of range"},
      {"{\"op\":\"go\",\"segment\":\"1\"}", "the agent was sent nonsense: go: "},
      {"{\"op\":\"go\",\"segment\":4294967296}", "segment is out of range"},
      {"{\"op\":\"stderr_ack\",\"stage\":1,\"bytes\":-1}", "a number is out of range"},
      {"{\"op\":\"abort\"}", "the agent was sent nonsense: abort: "},
      {"{\"op\":\"prepare\"}", "the agent was sent nonsense: prepare: "},
      {"{\"op\":\"ping\"} {", "end of file expected"},
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) CHECK(refuses(lines[i].line, lines[i].words));
}

static void test_prepare(void) {
  struct rd_request request;
  REQUIRE(decodes("{" HEAD TIMES "\"stages\":[" COMMAND "],\"links\":[" NULL_IN "," HOP HOP_END "]}", &request));
  const struct rd_prepare_spec *prepare = request.prepare;
  REQUIRE(prepare && prepare->stage_count == 1 && prepare->link_count == 2);
  const struct rd_stage_spec *stage = prepare->stages;
  CHECK(stage->kind == RD_STAGE_COMMAND && strcmp(stage->text, "ls") == 0 && strcmp(stage->shell, "sh") == 0);
  CHECK(stage->ok[0] && stage->ok[3] && !stage->ok[1]);
  const struct rd_link_spec *link = rd_prepare_link_of(prepare, stage, RD_HOP_SEND);
  REQUIRE(link == &prepare->links[1]);
  CHECK(link->kind == RD_LINK_HOP && link->end == RD_HOP_SEND && link->source == RD_PARTY_STAGE);
  CHECK(strcmp(link->encrypt, "tcp") == 0);
  CHECK(strcmp(link->key, "ab") == 0 && strcmp(link->bind, "10.0.0.1") == 0);
  CHECK(link->buffer_bytes == 4096 && link->ports[0] == 5 && link->ports[1] == 9);
  CHECK(link->poll && link->compress_level == 3 && link->jobs == 4);
  CHECK(link->limit_bytes_per_s == 5000000000 && !link->numa);
  CHECK(rd_prepare_link_of(prepare, stage, RD_HOP_RECV) == &prepare->links[0]);
  CHECK(rd_prepare_stage_of(prepare, 1, RD_HOP_SEND) == stage && !rd_prepare_stage_of(prepare, 1, RD_HOP_RECV));
  CHECK(prepare->lease_ms == 1000 && prepare->connect_timeout_ms == 1 && prepare->stall_timeout_ms == 2);
  rd_request_clear(&request);
}

static void test_what_encrypt_may_be(void) {
  static const char *const words[] = {"always", "auth", "never", "tcp"}, *const no_words[] = {"auto", "Auth", "",
                                                                                              "mac"};
  char hop[512];
  for (size_t i = 0; i < 4; i++) {
    struct rd_request request;
    char text[1024];
    snprintf(text, sizeof text,
             "{" HEAD TIMES "\"stages\":[" COMMAND "],\"links\":[" NULL_IN "," HOP_HEAD "\"encrypt\":\"%s\"," HOP_END
             "]}",
             words[i]);
    REQUIRE(decodes(text, &request));
    CHECK(strcmp(request.prepare->links[1].encrypt, words[i]) == 0);
    rd_request_clear(&request);
    snprintf(hop, sizeof hop, NULL_IN "," HOP_HEAD "\"encrypt\":\"%s\"," HOP_END, no_words[i]);
    CHECK(refuses_segment(COMMAND, hop, "encrypt is always, auth, never or tcp"));
  }
}

static void test_prepare_that_does_not_fit(void) {
  const char *sink = "{\"stage\":2,\"kind\":\"sink\",\"word\":\"66\",\"append\":false,\"in\":1}";
  const char *pipe = NULL_IN ",{\"link\":1,\"kind\":\"pipe\"}";
  const char *local =
      "{\"link\":1,\"kind\":\"local\",\"key\":\"ab\",\"source\":\"stage\",\"sink\":\"stage\",\"buffer\":1}";
  char both[1024];
  CHECK(refuses_segment(COMMAND, NULL_IN, "a stage has no output"));
  CHECK(refuses_segment(COMMAND, HOP HOP_END, "a stage has no input"));
  CHECK(refuses_segment(COMMAND, pipe, "a link does not join what it says")); // no reader
  CHECK(refuses_segment("", local, "a link does not join what it says"));     // nothing to join
  CHECK(refuses_segment(COMMAND "," COMMAND, NULL_IN "," HOP HOP_END,
                        "a link does not join what it says")); // two on one end
  snprintf(both, sizeof both, "%s,%s", COMMAND, sink);
  CHECK(refuses_segment(both, pipe, "a stage has no input")); // a file does not read a pipe
  CHECK(refuses_segment(COMMAND, NULL_IN "," HOP "\"buffer\":1,\"bind\":null,\"ports\":[5]}", "prepare: "));
  CHECK(refuses_segment(COMMAND, NULL_IN "," HOP "\"buffer\":1,\"bind\":null,\"ports\":[5,9],\"limit\":\"1M\"}",
                        "prepare: "));
  CHECK(refuses_segment(COMMAND, NULL_IN "," HOP_HEAD "\"encrypt\":true," HOP_END, "prepare: "));
  CHECK(refuses_segment(COMMAND,
                        "{\"link\":1,\"kind\":\"hop\",\"end\":\"up\",\"key\":\"ab\",\"encrypt\":\"tcp\"," HOP_END,
                        "end is send or recv"));
  CHECK(refuses_segment(
      COMMAND, "{\"link\":1,\"kind\":\"local\",\"key\":\"ab\",\"source\":\"sky\",\"sink\":\"null\",\"buffer\":1}",
      "a link from or to something unknown"));
  CHECK(refuses_segment("{\"stage\":1,\"kind\":\"source\",\"word\":\"6\",\"out\":1}", local,
                        "a file's word is not hexadecimal"));
  CHECK(refuses_segment("{\"stage\":1,\"kind\":\"source\",\"word\":\"6600\",\"out\":1}", local, // a NUL
                        "a file's word is not hexadecimal"));
  CHECK(refuses_segment("{\"stage\":1,\"kind\":\"dream\",\"out\":1}", local, "a stage of an unknown kind"));
  CHECK(refuses_segment("{\"stage\":0,\"kind\":\"dream\",\"out\":1}", local, "a stage's number is out of range"));
  CHECK(refuses_segment(COMMAND_HEAD "\"7\",\"shell\":\"sh\",\"ok\":[0]}", local,
                        "a command is not hexadecimal, or has no shell"));
  CHECK(refuses_segment(COMMAND_HEAD "\"70\",\"shell\":\"\",\"ok\":[0]}", local,
                        "a command is not hexadecimal, or has no shell"));
  CHECK(refuses_segment(COMMAND_HEAD "\"70\",\"shell\":\"sh\",\"ok\":1}", local, "ok is no list"));
  CHECK(refuses_segment(COMMAND_HEAD "\"70\",\"shell\":\"sh\",\"ok\":[256]}", local, "ok holds no exit status"));
  CHECK(refuses_segment("5", local, "prepare: "));
  CHECK(refuses_segment(COMMAND, "{\"link\":0,\"kind\":\"rope\"}", "a link of an unknown kind"));
  CHECK(refuses_segment(COMMAND, "{\"link\":-1,\"kind\":\"null\"}", "a link's number is out of range"));
  CHECK(refuses("{" HEAD "\"connect_timeout_ms\":0,\"stall_timeout_ms\":2,\"stages\":[],\"links\":[]}",
                "a number is out of range"));
  CHECK(refuses("{" HEAD TIMES "\"stages\":5,\"links\":[]}", "stages is no list, or too long"));
  CHECK(refuses("{" HEAD TIMES "\"stages\":[],\"links\":5}", "links is no list, or too long"));
}

int main(void) {
  test_simple_requests();
  test_connecting();
  test_nonsense();
  test_prepare();
  test_what_encrypt_may_be();
  test_prepare_that_does_not_fit();
  return test_end("rdstage request");
}
