// SPDX-License-Identifier: Apache-2.0
#include "agent/commands.h"

#include "base/hex.h"
#include "base/option_table.h"
#include "transport/tcp/connector.h"

#include <stdio.h>
#include <string.h>

// Returns NULL if the message is valid, otherwise the name of the field that is missing or wrong.
typedef const char *decode_function(json_t *message, struct rd_command *command);

struct op {
  const char *name;
  enum rd_command_type type;
  decode_function *decode; // NULL: no fields
};

static const char *decode_open(json_t *message, struct rd_command *command);
static const char *decode_ports(const json_t *message, struct rd_settings *settings);
static const char *decode_options(const json_t *message, struct rd_settings *settings);
static bool decode_key(json_t *value, unsigned char key[RD_KEY_BYTES]);
static bool decode_encrypt(const json_t *value, enum rd_encrypt *encrypt);
static const char *decode_chain(const json_t *message, struct rd_settings *settings);
static const char *decode_file(json_t *message, struct rd_command *command);
static const char *decode_ready(json_t *message, struct rd_command *command);
static const char *decode_ring(json_t *message, struct rd_command *command);
static const char *decode_listen(json_t *message, struct rd_command *command);
static const char *decode_dial(json_t *message, struct rd_command *command);
static bool decode_address(const json_t *value, struct rd_address *address);
static bool decode_transport(const json_t *value, bool *rdma);
static const char *decode_adopt(json_t *message, struct rd_command *command);
static const char *decode_reader(json_t *message, struct rd_command *command);
static const char *decode_commit(json_t *message, struct rd_command *command);
static const char *decode_abort(json_t *message, struct rd_command *command);
static bool get_text(const json_t *value, char *out, size_t out_bytes);
static bool get_text_or_null(const json_t *value, char *out, size_t out_bytes);
static bool get_number(const json_t *value, json_int_t least, json_int_t most, json_int_t *out);
static bool get_option(const json_t *value, int64_t least, int64_t most, int64_t *out);
static bool get_flag(const json_t *value, bool otherwise, bool *out);

static const struct op ops[] = {
    {"open", RD_COMMAND_OPEN, decode_open},         {"file", RD_COMMAND_FILE, decode_file},
    {"ready", RD_COMMAND_READY, decode_ready},      {"listen", RD_COMMAND_LISTEN, decode_listen},
    {"dial", RD_COMMAND_DIAL, decode_dial},         {"adopt", RD_COMMAND_ADOPT, decode_adopt},
    {"consumer", RD_COMMAND_READER, decode_reader}, {"show", RD_COMMAND_SHOW, NULL},
    {"commit", RD_COMMAND_COMMIT, decode_commit},   {"abort", RD_COMMAND_ABORT, decode_abort},
    {"release", RD_COMMAND_RELEASE, NULL},          {"relay", RD_COMMAND_RELAY, decode_ring},
    {"rejoin", RD_COMMAND_REJOIN, decode_open},     {"last", RD_COMMAND_LAST, NULL},
    {"ring", RD_COMMAND_RING, decode_ring},
};

bool rd_agent_command_decode(json_t *message, struct rd_command *command, struct rd_error *error) {
  const char *name = json_string_value(json_object_get(message, "op"));
  for (size_t i = 0; name != NULL && i < sizeof ops / sizeof ops[0]; i++) {
    if (strcmp(ops[i].name, name) != 0) continue;
    *command = (struct rd_command){.type = ops[i].type, .fd = -1};
    const char *wrong = ops[i].decode != NULL ? ops[i].decode(message, command) : NULL;
    if (wrong == NULL) return true;
    rd_error_set(error, RD_CODE_INTERNAL, "the agent sent an invalid message: %s: %s", name, wrong);
    return false;
  }
  rd_error_set(error, RD_CODE_INTERNAL, "the agent sent an unknown message");
  return false;
}

static const char *decode_open(json_t *message, struct rd_command *command) {
  struct rd_settings *settings = &command->settings;
  json_int_t hop;
  // Decoded first, so that the key is wiped whatever else is wrong.
  if (!decode_key(json_object_get(message, "key"), settings->key)) return "key";
  if (!get_text(json_object_get(message, "run"), settings->run, sizeof settings->run)) return "run";
  if (!get_number(json_object_get(message, "hop"), 0, INT_MAX, &hop)) return "hop";
  settings->hop = (unsigned)hop;
  if (!decode_encrypt(json_object_get(message, "encrypt"), &settings->encrypt)) return "encrypt";
  const char *wrong = decode_options(message, settings);
  if (wrong == NULL) wrong = decode_ports(message, settings);
  return wrong != NULL ? wrong : decode_chain(message, settings);
}

// Where to listen; every field is optional.
static const char *decode_ports(const json_t *message, struct rd_settings *settings) {
  const json_t *ports = json_object_get(message, "ports");
  json_int_t low = 0, high = 0;
  if (!get_text_or_null(json_object_get(message, "bind"), settings->bind_host, sizeof settings->bind_host))
    return "bind";
  if (ports != NULL && (!get_number(json_array_get(ports, 0), 0, UINT16_MAX, &low) ||
                        !get_number(json_array_get(ports, 1), low, UINT16_MAX, &high)))
    return "ports";
  settings->port_low = (uint16_t)low;
  settings->port_high = (uint16_t)high;
  return NULL;
}

static const char *decode_options(const json_t *message, struct rd_settings *settings) {
#define NUMBER(name, row)                                                                                              \
  if (!get_option(json_object_get(message, #name), RD_##row##_MIN, RD_##row##_MAX, &settings->name)) return #name;
#define FLAG(name, row)                                                                                                \
  if (!get_flag(json_object_get(message, #name), RD_##row##_DEFAULT, &settings->name)) return #name;
  RD_HOP_OPTIONS(NUMBER, FLAG)
  return NULL;
}

// Every field is optional.
static const char *decode_chain(const json_t *message, struct rd_settings *settings) {
  json_t *sign = json_object_get(message, "sign"), *verify = json_object_get(message, "verify");
  struct rd_signing *signing = &settings->signing;
  int64_t behind;
  if (!get_flag(json_object_get(message, "chain"), false, &settings->chain)) return "chain";
  if (!get_option(json_object_get(message, "behind"), 0, RD_BEHIND_MAX, &behind)) return "behind";
  settings->behind = (unsigned)behind;
  memcpy(signing->run, settings->run, sizeof signing->run);
  signing->role = sign != NULL ? RD_SIGNING_SIGNS : verify != NULL ? RD_SIGNING_VERIFIES : RD_SIGNING_NONE;
  if (sign != NULL && !decode_key(sign, signing->key)) return "sign";
  return sign != NULL || verify == NULL || decode_key(verify, signing->key) ? NULL : "verify";
}

static bool decode_key(json_t *value, unsigned char key[RD_KEY_BYTES]) {
  if (!json_is_string(value)) return false;
  size_t digits = json_string_length(value), count;
  char *text = (char *)(uintptr_t)json_string_value(value);
  bool good = rd_hex_decode(text, digits, key, RD_KEY_BYTES, &count) && count == RD_KEY_BYTES;
  explicit_bzero(text, digits);
  return good;
}

// `auto` is not for programs of an agent.
static bool decode_encrypt(const json_t *value, enum rd_encrypt *encrypt) {
  int found = rd_option_word(json_string_value(value), (const char *const[]){RD_ENCRYPT_WORDS, NULL});
  *encrypt = (enum rd_encrypt)found;
  return found > RD_ENCRYPT_AUTO;
}

static const char *decode_file(json_t *message, struct rd_command *command) {
  const json_t *path = json_object_get(message, "path");
  size_t count;
  command->append = json_is_true(json_object_get(message, "append"));
  if (!json_is_string(path) || !rd_hex_decode(json_string_value(path), json_string_length(path),
                                              (unsigned char *)command->path, sizeof command->path - 1, &count))
    return "path";
  command->path[count] = '\0';
  return count > 0 && memchr(command->path, '\0', count) == NULL ? NULL : "path";
}

// The descriptor is not in the message: it is standard input of a sender, standard output of a receiver. The code that
// handles the command knows which it is.
static const char *decode_ready(json_t *message, struct rd_command *command) {
  command->fd = -1;
  command->asks = json_is_true(json_object_get(message, "ask"));
  return NULL;
}

static const char *decode_ring(json_t *message, struct rd_command *command) {
  json_int_t memory, bell;
  if (!get_number(json_object_get(message, "memory"), 3, INT_MAX, &memory)) return "memory";
  if (!get_number(json_object_get(message, "bell"), 3, INT_MAX, &bell)) return "bell";
  command->ring_fds = (struct rd_ring_fds){(int)memory, (int)bell};
  return NULL;
}

static const char *decode_listen(json_t *message, struct rd_command *command) {
  struct rd_listen_command *listen = &command->listen;
  const json_t *bind_host = json_object_get(message, "bind");
  listen->has_bind = bind_host != NULL;
  if (!get_text_or_null(bind_host, listen->bind_host, sizeof listen->bind_host)) return "bind";
  return decode_transport(json_object_get(message, "transport"), &listen->rdma) ? NULL : "transport";
}

static const char *decode_dial(json_t *message, struct rd_command *command) {
  const json_t *addresses = json_object_get(message, "addresses");
  size_t count = json_array_size(addresses);
  command->are_rails = json_is_true(json_object_get(message, "rails"));
  if (count == 0 || count > (command->are_rails ? RD_RAILS_MAX : RD_DIALER_MAX)) return "addresses";
  command->address_count = count;
  for (size_t i = 0; i < count; i++)
    if (!decode_address(json_array_get(addresses, i), &command->addresses[i])) return "addresses";
  return NULL;
}

static bool decode_address(const json_t *value, struct rd_address *address) {
  const json_t *path = json_object_get(value, "unix");
  json_int_t port = 0;
  if (path != NULL) return get_text(path, address->host, sizeof address->host) && address->host[0] == '/';
  if (!get_text(json_object_get(value, "host"), address->host, sizeof address->host) ||
      !get_number(json_object_get(value, "port"), 1, UINT16_MAX, &port))
    return false;
  address->port = (uint16_t)port;
  return get_text_or_null(json_object_get(value, "from"), address->from, sizeof address->from) &&
         decode_transport(json_object_get(value, "transport"), &address->rdma);
}

// TCP if absent.
static bool decode_transport(const json_t *value, bool *rdma) {
  const char *name = value != NULL ? json_string_value(value) : "tcp";
  *rdma = name != NULL && strcmp(name, "rdma") == 0;
  return *rdma || (name != NULL && strcmp(name, "tcp") == 0);
}

static const char *decode_adopt(json_t *message, struct rd_command *command) {
  json_int_t fd;
  if (!get_number(json_object_get(message, "fd"), 3, INT_MAX, &fd)) return "fd";
  struct rd_error ignored;
  command->transport = rd_tcp_adopt((int)fd, &ignored);
  command->is_dialer = json_is_true(json_object_get(message, "dialer"));
  return command->transport != NULL ? NULL : "fd";
}

static const char *decode_reader(json_t *message, struct rd_command *command) {
  json_int_t pid;
  if (!get_number(json_object_get(message, "pid"), 2, INT_MAX, &pid)) return "pid";
  command->pid = (pid_t)pid;
  return NULL;
}

static const char *decode_commit(json_t *message, struct rd_command *command) {
  json_int_t status;
  if (!get_number(json_object_get(message, "status"), 0, UINT32_MAX, &status)) return "status";
  command->status = (uint32_t)status;
  return NULL;
}

static const char *decode_abort(json_t *message, struct rd_command *command) {
  const json_t *reason = json_object_get(message, "reason");
  command->code = RD_CODE_ABORTED;
  snprintf(command->reason, sizeof command->reason, "%s",
           json_is_string(reason) ? json_string_value(reason) : "aborted");
  return NULL;
}

static bool get_text(const json_t *value, char *out, size_t out_bytes) {
  size_t length = json_string_length(value);
  if (!json_is_string(value) || length >= out_bytes || strlen(json_string_value(value)) != length) return false;
  memcpy(out, json_string_value(value), length + 1);
  return true;
}

// Leaves *out unchanged if absent or null.
static bool get_text_or_null(const json_t *value, char *out, size_t out_bytes) {
  return value == NULL || json_is_null(value) || get_text(value, out, out_bytes);
}

static bool get_number(const json_t *value, json_int_t least, json_int_t most, json_int_t *out) {
  *out = json_integer_value(value);
  return json_is_integer(value) && *out >= least && *out <= most;
}

// May be absent if it may be 0, and is then 0.
static bool get_option(const json_t *value, int64_t least, int64_t most, int64_t *out) {
  json_int_t number = 0;
  bool good = value != NULL ? get_number(value, least, most, &number) : least <= 0;
  *out = number;
  return good;
}

static bool get_flag(const json_t *value, bool otherwise, bool *out) {
  *out = value != NULL ? json_is_true(value) : otherwise;
  return value == NULL || json_is_boolean(value);
}
