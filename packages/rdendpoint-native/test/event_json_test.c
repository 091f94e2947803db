// SPDX-License-Identifier: Apache-2.0
// Events as JSON, as the agent and scripts read them (docs/protocol, sections 2.2 and 3).
#include "agent/event_json.h"

#include "test.h"

#include <openssl/opensslv.h>
#include <string.h>

#define OPENSSL OPENSSL_VERSION_STR

static const struct rd_error refused = {.code = RD_CODE_CANNOT_CONNECT, .message = "why"};

static void says(struct rd_event event, const char *text) {
  json_t *made = rd_event_to_json(&event), *wanted = json_loads(text, 0, NULL);
  REQUIRE(wanted != NULL);
  if (!CHECK(json_equal(made, wanted))) fprintf(stderr, "  %s\n", text);
  json_decref(made);
  json_decref(wanted);
}

int main(void) {
  says((struct rd_event){.type = RD_EVENT_LISTENING, .port = 7},
       "{\"event\":\"listening\",\"transport\":\"tcp\",\"port\":7}");
  says((struct rd_event){.type = RD_EVENT_LISTENING, .rdma = true, .port = 65535},
       "{\"event\":\"listening\",\"transport\":\"rdma\",\"port\":65535}");
  says((struct rd_event){.type = RD_EVENT_LISTEN_FAILED, .rdma = true, .error = &refused},
       "{\"event\":\"listen_failed\",\"transport\":\"rdma\",\"code\":\"cannot_connect\",\"message\":\"why\"}");
  says((struct rd_event){.type = RD_EVENT_DIAL_FAILED, .error = &refused},
       "{\"event\":\"dial_failed\",\"code\":\"cannot_connect\",\"message\":\"why\"}");
  says((struct rd_event){.type = RD_EVENT_OUTPUT}, "{\"event\":\"output\"}");
  says((struct rd_event){.type = RD_EVENT_CLOSED}, "{\"event\":\"closed\"}");
  struct rd_event connected = {
      .type = RD_EVENT_CONNECTED, .transport = "rdma", .cipher = "none", .local = "a", .peer = "b", .device = "rxe0"};
  says(connected, "{\"event\":\"connected\",\"transport\":\"rdma\",\"cipher\":\"none\",\"openssl\":\"" OPENSSL "\","
                  "\"local\":\"a\",\"peer\":\"b\",\"device\":\"rxe0\",\"numa\":null,\"note\":null}");
  connected.device = NULL;
  connected.numa_node = &(const int){1};
  connected.note = "smaller";
  says(connected, "{\"event\":\"connected\",\"transport\":\"rdma\",\"cipher\":\"none\",\"openssl\":\"" OPENSSL "\","
                  "\"local\":\"a\",\"peer\":\"b\",\"device\":null,\"numa\":1,\"note\":\"smaller\"}");
  says((struct rd_event){.type = RD_EVENT_COUNTERS,
                         .bytes = 1ull << 40,
                         .wire_bytes = 1u << 30,
                         .waits = {1, 4, 5, 2, 3},
                         .limits = {7, 8, 6},
                         .lanes = 4,
                         .rtt_us = 90},
       "{\"event\":\"counters\",\"bytes\":1099511627776,\"wire_bytes\":1073741824,\"input_ms\":1,\"limit_ms\":4,"
       "\"worker_ms\":5,\"wire_ms\":2,\"output_ms\":3,\"send_buffer_ms\":7,\"receive_window_ms\":8,"
       "\"sent_again\":6,\"streams\":4,\"rtt_us\":90}");
  says(
      (struct rd_event){
          .type = RD_EVENT_FINISHED, .error = &refused, .bytes = 5, .wire_bytes = 4, .usage = {1, 2, 900}},
      "{\"event\":\"finished\",\"result\":\"failed\",\"status\":3,\"code\":\"cannot_connect\",\"message\":\"why\","
      "\"bytes\":5,\"wire_bytes\":4,\"user_ms\":1,\"system_ms\":2,\"max_rss_kib\":900}");
  return test_end("event_json");
}
