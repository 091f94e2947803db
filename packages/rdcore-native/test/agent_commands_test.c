// SPDX-License-Identifier: Apache-2.0
// The agent's messages as commands: what is right, and everything that is not.
#include "agent/commands.h"

#include "test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define OPEN_WITHOUT_ENCRYPT "{\"op\":\"open\",\"key\":\"" KEY "\",\"run\":\"r\",\"hop\":1,"
#define OPEN_BEGIN OPEN_WITHOUT_ENCRYPT "\"encrypt\":\"always\","
#define OPEN_TIMES "\"connect_timeout_ms\":1,\"stall_timeout_ms\":2000,"

static struct rd_command command;

static bool decode(const char *text) {
  json_error_t where;
  struct rd_error error = {.code = RD_CODE_OK};
  json_t *message = json_loads(text, 0, &where);
  REQUIRE(message != NULL);
  bool good = rd_agent_command_decode(message, &command, &error);
  CHECK(good == (error.code == RD_CODE_OK));
  json_decref(message);
  return good;
}

static void test_open(void) {
  CHECK(decode(OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"bind\":\"::1\",\"ports\":[4000,4010]}"));
  const struct rd_settings *settings = &command.settings;
  CHECK(command.type == RD_COMMAND_OPEN && settings->key[1] == 0x11 && settings->key[31] == 0xff);
  CHECK(strcmp(settings->run, "r") == 0 && settings->hop == 1 && settings->encrypt == RD_ENCRYPT_ALWAYS);
  CHECK(settings->buffer_bytes == 65536 && settings->connect_timeout_ms == 1 && settings->stall_timeout_ms == 2000);
  CHECK(strcmp(settings->bind_host, "::1") == 0 && settings->port_low == 4000 && settings->port_high == 4010);
  CHECK(!settings->retry_refused && !settings->rdma_first && !settings->poll);
  CHECK(decode(OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"bind\":null,\"ports\":[0,0],\"poll\":true}"));
  CHECK(command.settings.poll);
  CHECK(settings->compress_level == 0 && settings->jobs == 0 && settings->limit_bytes_per_s == 0 && settings->numa);
  CHECK(decode(OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"compress\":19,\"jobs\":64,\"limit\":1125899906842624,"
                                     "\"numa\":false}"));
  CHECK(settings->compress_level == 19 && settings->jobs == 64 && !settings->numa);
  CHECK(settings->limit_bytes_per_s == RD_LIMIT_MOST_BYTES_PER_S);
  CHECK(decode(OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"compress\":0,\"jobs\":0,\"limit\":0,\"numa\":true}"));
  CHECK(settings->compress_level == 0 && settings->jobs == 0 && settings->limit_bytes_per_s == 0 && settings->numa);
  CHECK(decode(OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"bind\":null}"));
  CHECK(command.settings.bind_host[0] == '\0');
  CHECK(decode(OPEN_WITHOUT_ENCRYPT "\"encrypt\":\"never\"," OPEN_TIMES "\"buffer\":65536}"));
  CHECK(command.settings.encrypt == RD_ENCRYPT_NEVER);
  CHECK(decode(OPEN_WITHOUT_ENCRYPT "\"encrypt\":\"auth\"," OPEN_TIMES "\"buffer\":65536}"));
  CHECK(command.settings.encrypt == RD_ENCRYPT_AUTH);
  CHECK(decode(OPEN_WITHOUT_ENCRYPT "\"encrypt\":\"tcp\"," OPEN_TIMES "\"buffer\":65536}"));
  CHECK(command.settings.encrypt == RD_ENCRYPT_TCP);
}

static void test_key_is_wiped(void) {
  struct rd_error error;
  json_t *message = json_pack("{s:s, s:s}", "op", "open", "key", KEY);
  CHECK(!rd_agent_command_decode(message, &command, &error));
  CHECK(json_string_value(json_object_get(message, "key"))[0] == '\0');
  json_decref(message);
}

static void test_others(void) {
  CHECK(decode("{\"op\":\"file\",\"path\":\"2f00ff\",\"append\":true}") == false);
  CHECK(decode("{\"op\":\"file\",\"path\":\"2fff0a\",\"append\":true}"));
  CHECK(strcmp(command.path, "/\xff\n") == 0 && command.append);
  CHECK(decode("{\"op\":\"ready\"}") && command.type == RD_COMMAND_READY && !command.asks);
  CHECK(decode("{\"op\":\"ready\",\"ask\":true}") && command.type == RD_COMMAND_READY && command.asks);
  CHECK(decode("{\"op\":\"show\"}") && command.type == RD_COMMAND_SHOW);
  CHECK(decode("{\"op\":\"dial\",\"addresses\":[{\"host\":\"::1\",\"port\":5},{\"unix\":\"/run/x\"}]}"));
  CHECK(command.address_count == 2 && command.addresses[0].port == 5 && command.addresses[1].port == 0);
  CHECK(decode("{\"op\":\"consumer\",\"pid\":77}") && command.pid == 77);
  CHECK(decode("{\"op\":\"commit\",\"status\":255}") && command.status == 255);
  CHECK(decode("{\"op\":\"abort\",\"reason\":\"why\"}") && command.code == RD_CODE_ABORTED);
  CHECK(strcmp(command.reason, "why") == 0);
  CHECK(decode("{\"op\":\"release\"}") && command.type == RD_COMMAND_RELEASE);
}

static void test_transports(void) {
  CHECK(decode("{\"op\":\"listen\"}") && command.type == RD_COMMAND_LISTEN);
  CHECK(!command.listen.rdma && !command.listen.has_bind && command.listen.port == 0);
  CHECK(decode("{\"op\":\"listen\",\"transport\":\"rdma\",\"bind\":\"::1\"}"));
  CHECK(command.listen.rdma && command.listen.has_bind && strcmp(command.listen.bind_host, "::1") == 0);
  CHECK(decode("{\"op\":\"listen\",\"transport\":\"tcp\",\"bind\":null}"));
  CHECK(!command.listen.rdma && command.listen.has_bind && command.listen.bind_host[0] == '\0');
  CHECK(decode("{\"op\":\"dial\",\"addresses\":[{\"host\":\"::1\",\"port\":5,\"transport\":\"rdma\",\"from\":\"::2\"},"
               "{\"host\":\"::1\",\"port\":5,\"transport\":\"tcp\",\"from\":null}]}"));
  CHECK(command.addresses[0].rdma && strcmp(command.addresses[0].from, "::2") == 0);
  CHECK(!command.addresses[1].rdma && command.addresses[1].from[0] == '\0');
}

static void test_adopt(void) {
  int fds[2];
  char text[64];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
  snprintf(text, sizeof text, "{\"op\":\"adopt\",\"fd\":%d,\"dialer\":true}", fds[0]);
  CHECK(decode(text) && command.is_dialer && command.transport != NULL);
  rd_transport_destroy(command.transport);
  CHECK(fcntl(fds[0], F_GETFD) < 0); // it was taken over
  close(fds[1]);
}

static void test_nonsense(void) {
  static const char *const texts[] = {
      "{}",
      "{\"op\":1}",
      "{\"op\":\"fly\"}",
      "{\"op\":\"open\"}",
      OPEN_WITHOUT_ENCRYPT OPEN_TIMES "\"buffer\":65536}",
      OPEN_WITHOUT_ENCRYPT "\"encrypt\":true," OPEN_TIMES "\"buffer\":65536}",
      OPEN_WITHOUT_ENCRYPT "\"encrypt\":\"mac\"," OPEN_TIMES "\"buffer\":65536}",
      OPEN_WITHOUT_ENCRYPT "\"encrypt\":\"auto\"," OPEN_TIMES "\"buffer\":65536}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65535}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":1e9}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"bind\":7}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"poll\":1}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"compress\":20}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"compress\":-1}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"compress\":\"zstd\"}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"jobs\":65}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"jobs\":-1}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"limit\":1125899906842625}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"limit\":-1}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"limit\":1.5}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"numa\":1}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"numa\":null}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"ports\":[5,4]}",
      OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"ports\":[0,65536]}",
      OPEN_BEGIN "\"buffer\":65536,\"connect_timeout_ms\":1,\"stall_timeout_ms\":1999}",
      OPEN_BEGIN "\"buffer\":65536,\"connect_timeout_ms\":0,\"stall_timeout_ms\":2000}",
      "{\"op\":\"file\",\"path\":\"\"}",
      "{\"op\":\"file\",\"path\":\"2\"}",
      "{\"op\":\"file\",\"path\":7}",
      "{\"op\":\"dial\",\"addresses\":[]}",
      "{\"op\":\"dial\",\"addresses\":[{\"host\":\"::1\",\"port\":0}]}",
      "{\"op\":\"dial\",\"addresses\":[{\"unix\":\"relative\"}]}",
      "{\"op\":\"dial\",\"addresses\":[7]}",
      "{\"op\":\"dial\",\"addresses\":[{\"host\":\"::1\",\"port\":5,\"transport\":\"udp\"}]}",
      "{\"op\":\"dial\",\"addresses\":[{\"host\":\"::1\",\"port\":5,\"from\":7}]}",
      "{\"op\":\"listen\",\"transport\":\"udp\"}",
      "{\"op\":\"listen\",\"transport\":7}",
      "{\"op\":\"listen\",\"bind\":7}",
      "{\"op\":\"adopt\",\"fd\":2}",
      "{\"op\":\"consumer\",\"pid\":1}",
      "{\"op\":\"consumer\",\"pid\":-5}",
      "{\"op\":\"commit\"}",
      "{\"op\":\"commit\",\"status\":-1}",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    if (!CHECK(!decode(texts[i]))) fprintf(stderr, "  %s\n", texts[i]);
}

static void test_too_many_addresses(void) {
  json_t *addresses = json_array();
  struct rd_error error;
  for (unsigned i = 0; i <= RD_DIALER_MOST; i++)
    json_array_append_new(addresses, json_pack("{s:s, s:i}", "host", "::1", "port", 1));
  json_t *message = json_pack("{s:s, s:o}", "op", "dial", "addresses", addresses);
  CHECK(!rd_agent_command_decode(message, &command, &error));
  json_array_remove(addresses, 0);
  CHECK(rd_agent_command_decode(message, &command, &error) && command.address_count == RD_DIALER_MOST);
  json_decref(message);
}

int main(void) {
  test_open();
  test_key_is_wiped();
  test_others();
  test_transports();
  test_adopt();
  test_nonsense();
  test_too_many_addresses();
  return test_end("agent_orders");
}
