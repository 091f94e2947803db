// SPDX-License-Identifier: Apache-2.0
// The agent's messages as commands: valid ones, and everything that is not valid.
#include "agent/commands.h"

#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define RUN_63 "123456789-123456789-123456789-123456789-123456789-123456789-123"
#define OPEN_WITHOUT_ENCRYPT "{\"op\":\"open\",\"key\":\"" KEY "\",\"run\":\"r\",\"hop\":1,"
#define OPEN_BEGIN OPEN_WITHOUT_ENCRYPT "\"encrypt\":\"always\","
#define OPEN_TIMES "\"connect_timeout_ms\":1,\"stall_timeout_ms\":2000,"

static struct rd_command command;

// Returns NULL, or the error message.
static const char *refusal(const char *text) {
  static struct rd_error error;
  json_error_t where;
  json_t *message = json_loads(text, 0, &where);
  REQUIRE(message != NULL);
  error = (struct rd_error){.code = RD_CODE_OK};
  bool good = rd_agent_command_decode(message, &command, &error);
  CHECK(error.code == (good ? RD_CODE_OK : RD_CODE_INTERNAL));
  json_decref(message);
  return good ? NULL : error.message;
}

static bool decode(const char *text) {
  return refusal(text) == NULL;
}

static void test_open(void) {
  CHECK(decode(OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"bind\":\"::1\",\"ports\":[4000,4010]}"));
  const struct rd_settings *settings = &command.settings;
  CHECK(command.type == RD_COMMAND_OPEN && settings->key[1] == 0x11 && settings->key[31] == 0xff);
  CHECK(strcmp(settings->run, "r") == 0 && settings->hop == 1 && settings->encrypt == RD_ENCRYPT_ALWAYS);
  CHECK(settings->buffer == 65536 && settings->connect_timeout_ms == 1 && settings->stall_timeout_ms == 2000);
  CHECK(strcmp(settings->bind_host, "::1") == 0 && settings->port_low == 4000 && settings->port_high == 4010);
  CHECK(!settings->retry_refused && !settings->rdma_first && !settings->poll);
  CHECK(decode(OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"bind\":null,\"ports\":[0,0],\"poll\":true}"));
  CHECK(command.settings.poll);
  CHECK(settings->compress == 0 && settings->jobs == 0 && settings->limit == 0 && settings->numa &&
        settings->congestion);
  CHECK(decode(OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"compress\":19,\"jobs\":64,\"limit\":1125899906842624,"
                                     "\"numa\":false}"));
  CHECK(settings->compress == 19 && settings->jobs == 64 && !settings->numa);
  CHECK(settings->limit == RD_LIMIT_MAX);
  CHECK(decode(OPEN_BEGIN OPEN_TIMES "\"buffer\":65536,\"compress\":0,\"jobs\":0,\"limit\":0,\"numa\":true}"));
  CHECK(settings->compress == 0 && settings->jobs == 0 && settings->limit == 0 && settings->numa);
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
  CHECK(!command.are_rails);
  CHECK(decode(
      "{\"op\":\"dial\",\"rails\":true,\"addresses\":[{\"host\":\"::1\",\"port\":5},{\"host\":\"::2\",\"port\":5}]}"));
  CHECK(command.address_count == 2 && command.are_rails);
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
  CHECK(fcntl(fds[0], F_GETFD) < 0); // ownership was taken
  close(fds[1]);
}

// Returns a valid `open` message with one field added or replaced.
static char *open_with(const char *name, json_t *value) {
  json_t *message = json_loads(OPEN_BEGIN OPEN_TIMES "\"buffer\":65536}", 0, NULL);
  if (value != NULL)
    json_object_set_new(message, name, value);
  else
    json_object_del(message, name);
  char *text = json_dumps(message, 0);
  json_decref(message);
  REQUIRE(text != NULL);
  return text;
}

// `value`: JSON; NULL: the field is missing.
static void check_open(const char *name, const char *value, bool is_good) {
  char *text = open_with(name, value != NULL ? json_loads(value, JSON_DECODE_ANY, NULL) : NULL), expected[128];
  const char *words = refusal(text);
  snprintf(expected, sizeof expected, "the agent sent an invalid message: open: %s", name);
  if (!CHECK(is_good ? words == NULL : words != NULL && strcmp(words, expected) == 0))
    fprintf(stderr, "  %s: %s\n", text, words);
  free(text);
}

static void test_each_field_of_open(void) {
  static const struct {
    const char *name, *good[5], *bad[8];
  } fields[] = {
      {"key", {"\"" KEY "\""}, {NULL, "5", "\"\"", "\"ab\"", "\"" KEY "00\"", "\"x0" KEY "\""}},
      {"run", {"\"\"", "\"" RUN_63 "\""}, {NULL, "5", "null", "\"" RUN_63 "x\"", "\"a\\u0000b\""}},
      {"hop", {"0", "2147483647"}, {NULL, "-1", "2147483648", "\"1\"", "1.5"}},
      {"encrypt",
       {"\"always\"", "\"auth\"", "\"never\"", "\"tcp\""},
       {NULL, "true", "\"mac\"", "\"auto\"", "\"Auth\"", "\"\""}},
      {"buffer", {"65536", "1073741824"}, {NULL, "65535", "1073741825", "1e9", "\"65536\"", "-65536"}},
      {"connect_timeout_ms", {"1", "2147483647"}, {NULL, "0", "2147483648", "\"1\"", "1.5"}},
      {"stall_timeout_ms", {"2000", "2147483647"}, {NULL, "1999", "2147483648", "null"}},
      {"bind", {NULL, "null", "\"::1\""}, {"7", "false", "[]"}},
      {"ports", {NULL, "[0,0]", "[65535,65535]"}, {"[5]", "5", "null", "[5,4]", "[-1,4]", "[0,65536]", "[5,\"9\"]"}},
      {"behind", {NULL, "0", "65535"}, {"65536", "-1", "true", "null"}},
      {"compress", {NULL, "0", "19"}, {"20", "-1", "\"zstd\"", "null"}},
      {"jobs", {NULL, "0", "64"}, {"65", "-1", "\"2\"", "null"}},
      {"streams", {NULL, "0", "16"}, {"17", "-1", "\"2\"", "null"}},
      {"limit", {NULL, "0", "1125899906842624"}, {"1125899906842625", "-1", "1.5", "\"1M\""}},
      {"poll", {NULL, "true", "false"}, {"1", "null"}},
      {"numa", {NULL, "true", "false"}, {"1", "null"}},
      {"congestion", {NULL, "true", "false"}, {"1", "\"auto\""}},
  };
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    // The first value may be NULL; a later NULL ends the list.
    for (size_t j = 0; j < 5 && (j == 0 || fields[i].good[j] != NULL); j++)
      check_open(fields[i].name, fields[i].good[j], true);
    for (size_t j = 0; j < 8 && (j == 0 || fields[i].bad[j] != NULL); j++)
      check_open(fields[i].name, fields[i].bad[j], false);
  }
}

static void test_invalid_messages(void) {
  static const struct {
    const char *text, *words;
  } messages[] = {
      {"{}", "the agent sent an unknown message"},
      {"{\"op\":1}", "the agent sent an unknown message"},
      {"{\"op\":\"fly\"}", "the agent sent an unknown message"},
      {"{\"op\":\"open\"}", "open: key"},
      {"{\"op\":\"file\",\"path\":\"\"}", "file: path"},
      {"{\"op\":\"file\",\"path\":\"2\"}", "file: path"},
      {"{\"op\":\"file\",\"path\":7}", "file: path"},
      {"{\"op\":\"dial\",\"addresses\":[]}", "dial: addresses"},
      {"{\"op\":\"dial\",\"addresses\":[{\"host\":\"::1\",\"port\":0}]}", "dial: addresses"},
      {"{\"op\":\"dial\",\"addresses\":[{\"unix\":\"relative\"}]}", "dial: addresses"},
      {"{\"op\":\"dial\",\"addresses\":[7]}", "dial: addresses"},
      {"{\"op\":\"dial\",\"addresses\":[{\"host\":\"::1\",\"port\":5,\"transport\":\"udp\"}]}", "dial: addresses"},
      {"{\"op\":\"dial\",\"addresses\":[{\"host\":\"::1\",\"port\":5,\"from\":7}]}", "dial: addresses"},
      {"{\"op\":\"listen\",\"transport\":\"udp\"}", "listen: transport"},
      {"{\"op\":\"listen\",\"transport\":7}", "listen: transport"},
      {"{\"op\":\"listen\",\"bind\":7}", "listen: bind"},
      {"{\"op\":\"adopt\",\"fd\":2}", "adopt: fd"},
      {"{\"op\":\"consumer\",\"pid\":1}", "consumer: pid"},
      {"{\"op\":\"consumer\",\"pid\":-5}", "consumer: pid"},
      {"{\"op\":\"commit\"}", "commit: status"},
      {"{\"op\":\"commit\",\"status\":-1}", "commit: status"},
  };
  for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
    const char *words = refusal(messages[i].text);
    if (!CHECK(words != NULL && strstr(words, messages[i].words) != NULL)) fprintf(stderr, "  %s\n", messages[i].text);
  }
}

static void test_too_many_addresses(void) {
  json_t *addresses = json_array();
  struct rd_error error;
  for (unsigned i = 0; i <= RD_DIALER_MAX; i++)
    json_array_append_new(addresses, json_pack("{s:s, s:i}", "host", "::1", "port", 1));
  json_t *message = json_pack("{s:s, s:o}", "op", "dial", "addresses", addresses);
  CHECK(!rd_agent_command_decode(message, &command, &error));
  json_array_remove(addresses, 0);
  CHECK(rd_agent_command_decode(message, &command, &error) && command.address_count == RD_DIALER_MAX);
  json_decref(message);
}

int main(void) {
  test_open();
  test_key_is_wiped();
  test_others();
  test_transports();
  test_adopt();
  test_each_field_of_open();
  test_invalid_messages();
  test_too_many_addresses();
  return test_end("agent_commands");
}
