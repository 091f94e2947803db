// SPDX-License-Identifier: Apache-2.0
// Tests of the limits of a served session: the requests that the agent refuses to a client.
#include "protocol/request.h"
#include "protocol/served.h"
#include "test.h"

#include <string.h>

#define HEAD "{\"op\":\"prepare\",\"segment\":1,\"lenient\":false,\"lease_ms\":7200000,\"connect_timeout_ms\":1,"
#define TREE(role) "{\"stage\":1,\"kind\":\"tree\",\"settings\":{\"role\":\"" role "\"},\"in\":0,\"out\":1}"
#define COMMAND "{\"stage\":1,\"kind\":\"command\",\"command\":\"6c73\",\"shell\":\"sh\",\"ok\":[0],\"in\":0,\"out\":1}"
#define HOP                                                                                                            \
  "{\"link\":1,\"kind\":\"hop\",\"end\":\"send\",\"source\":\"stage\",\"open\":{\"buffer\":1073741824,\"streams\":1,"  \
  "\"ports\":[1,2]"                                                                                                    \
  "}}"
#define ONE(stage) HEAD "\"stages\":[" stage "],\"links\":[{\"link\":0,\"kind\":\"null\"}," HOP "]}"

static struct rd_error error;

static bool allows(const char *rights, const char *line) {
  struct rd_served served = {.directory_fd = 3};
  struct rd_request request;
  REQUIRE(rd_rights_named(rights, &served.rights));
  REQUIRE(rd_request_decode(line, strlen(line), &request, &error));
  bool allowed = request.op == RD_REQUEST_PREPARE ? rd_served_allows(&served, request.prepare, &error)
                                                  : rd_served_allows_connection(&served, request.object, &error);
  rd_request_clear(&request);
  return allowed;
}

static void test_rights(void) {
  static const struct {
    const char *line;
    bool reads, writes, both;
  } cases[] = {
      {ONE(TREE("scan")), true, false, true},    {ONE(TREE("read")), true, false, true},
      {ONE(TREE("compare")), false, true, true}, {ONE(TREE("write")), false, true, true},
      {ONE(TREE("send")), false, false, false},  {ONE(TREE("copy")), false, false, true},
      {ONE(TREE("clean")), false, false, true},  {ONE(TREE("unknown")), false, false, false},
      {ONE(TREE("unite")), false, false, false}, {ONE(COMMAND), false, false, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CHECK(allows("read", cases[i].line) == cases[i].reads);
    CHECK(allows("write", cases[i].line) == cases[i].writes);
    CHECK(allows("both", cases[i].line) == cases[i].both);
  }
}

static void test_amounts_are_bounded(void) {
  struct rd_served served = {.directory_fd = 3};
  struct rd_request request;
  static const char line[] = ONE(TREE("read"));
  served.rights = RD_RIGHTS_BOTH;
  REQUIRE(rd_served_take_ports(&served, "4000-4010"));
  REQUIRE(rd_request_decode(line, strlen(line), &request, &error));
  CHECK(rd_served_allows(&served, request.prepare, &error));
  CHECK(request.prepare->lease_ms == 3600 * 1000);
  const json_t *open = request.prepare->links[1].open;
  CHECK(json_integer_value(json_object_get(open, "buffer")) == 64 << 20);
  CHECK(json_integer_value(json_array_get(json_object_get(open, "ports"), 0)) == 4000);
  CHECK(json_integer_value(json_array_get(json_object_get(open, "ports"), 1)) == 4010);
  rd_request_clear(&request);
}

static void test_local_sockets(void) {
#define DIAL(address) "{\"op\":\"dial\",\"link\":1,\"end\":\"send\",\"addresses\":[" address "]}"
  CHECK(allows("both", DIAL("{\"host\":\"10.0.0.1\",\"port\":7}")));
  CHECK(!allows("both", DIAL("{\"host\":\"10.0.0.1\",\"port\":7},{\"unix\":\"/run/docker.sock\"}")));
  CHECK(!allows("both", DIAL("{\"host\":\"/run/docker.sock\",\"port\":0}")));
}

static void test_options(void) {
  struct rd_served served = {0};
  CHECK(!rd_served_is(&served));
  static const char *const bad_ports[] = {"", "-", "1", "1-", "-2", "2-1", "0-1", "1-65536", "1-2x", "x1-2"};
  for (size_t i = 0; i < sizeof bad_ports / sizeof *bad_ports; i++) CHECK(!rd_served_take_ports(&served, bad_ports[i]));
  CHECK(!rd_rights_named("", &served.rights) && !rd_rights_named("all", &served.rights));
  CHECK(!rd_rights_named("none", &served.rights) && served.rights == RD_RIGHTS_NONE);
}

int main(void) {
  test_rights();
  test_amounts_are_bounded();
  test_local_sockets();
  test_options();
  return test_end("served");
}
