// SPDX-License-Identifier: Apache-2.0
#include "serve/clients.h"

#include "base/cleanup.h"
#include "base/json_lines.h"
#include "base/memory.h"
#include "crypto/key_derivation.h"
#include "crypto/key_words.h"
#include "serve/private_file.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#define KEY_MAX_BYTES 1024u
#define KEY_MIN_CHARACTERS 16u
#define CLIENTS_MAX 4096u
#define FILE_MAX_BYTES (256u << 10)
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

struct loading {
  const struct rd_serve_options *options;
  struct rd_clients *clients;
  int root_fd;
};

// Takes a value of the client that was added last; may change the text.
typedef bool take_function(struct loading *loading, char *text, struct rd_error *error);

static bool load(struct loading *loading, struct rd_error *error);
static bool load_client_file(struct loading *loading, struct rd_error *error);
static bool load_clients(struct loading *loading, const json_t *file, struct rd_error *error);
static bool load_client(struct loading *loading, const char *name, json_t *values, struct rd_error *error);
static bool take_value(struct loading *loading, const char *key, const json_t *value, struct rd_error *error);
static bool add_client(struct loading *loading, const char *name, struct rd_error *error);
static bool take_key_file(struct loading *loading, char *path, struct rd_error *error);
static bool take_key(struct loading *loading, char *text, struct rd_error *error);
static bool take_directory(struct loading *loading, char *path, struct rd_error *error);
static bool take_rights(struct loading *loading, char *text, struct rd_error *error);
static bool refuse(struct rd_error *error, const char *reason);

struct rd_clients *rd_clients_load(const struct rd_serve_options *options, struct rd_error *error) {
  RD_AUTO_CLOSE int root_fd = open(options->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root_fd < 0) {
    rd_error_set_errno(error, RD_CODE_USAGE, "cannot serve %.200s", options->directory);
    return NULL;
  }
  struct loading loading = {
      .options = options, .clients = rd_memory_new(1, sizeof *loading.clients), .root_fd = root_fd};
  if (load(&loading, error)) return loading.clients;
  rd_clients_destroy(loading.clients);
  return NULL;
}

void rd_clients_destroy(struct rd_clients *clients) {
  if (clients == NULL) return;
  for (size_t i = 0; i < clients->count; i++) rd_cleanup_fd(&clients->places[i].directory_fd);
  if (clients->keys != NULL) explicit_bzero(clients->keys, clients->count * sizeof *clients->keys);
  free(clients->keys);
  free(clients->places);
  free(clients);
}

const struct rd_client_grant *rd_clients_place(const struct rd_clients *clients, const char *name) {
  for (size_t i = 0; i < clients->count; i++)
    if (strcmp(clients->keys[i].name, name) == 0) return &clients->places[i];
  return NULL;
}

static bool load(struct loading *loading, struct rd_error *error) {
  const struct rd_serve_options *options = loading->options;
  if (options->key_file != NULL &&
      (!add_client(loading, "default", error) || !take_key_file(loading, (char *)(uintptr_t)options->key_file, error)))
    return false;
  return options->client_file == NULL || load_client_file(loading, error);
}

static bool load_client_file(struct loading *loading, struct rd_error *error) {
  const char *path = loading->options->client_file;
  size_t bytes;
  struct rd_error reason;
  json_error_t why;
  char *text = rd_private_file_read(path, FILE_MAX_BYTES, &bytes, error);
  if (text == NULL) return false;
  json_t *file = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &why);
  rd_private_file_free(text, bytes);
  bool is_read = file != NULL && load_clients(loading, file, &reason);
  if (file == NULL)
    rd_error_set(error, RD_CODE_USAGE, "%.150s: line %d: %.150s", path, why.line, why.text);
  else if (!is_read)
    rd_error_set(error, RD_CODE_USAGE, "%.150s: %.300s", path, reason.message);
  rd_json_destroy(file);
  return is_read;
}

static bool load_clients(struct loading *loading, const json_t *file, struct rd_error *error) {
  json_t *clients = json_object_get(file, "client"), *values;
  const char *name;
  if (json_object_size(file) != 1 || json_object_size(clients) == 0)
    return refuse(error, "it must be {\"client\": {NAME: {...}, ...}}, with at least one client");
  json_object_foreach(clients, name, values) {
    struct rd_error reason;
    if (load_client(loading, name, values, &reason)) continue;
    rd_error_set(error, RD_CODE_USAGE, "client %.64s: %.230s", name, reason.message);
    return false;
  }
  return true;
}

static bool load_client(struct loading *loading, const char *name, json_t *values, struct rd_error *error) {
  size_t length = strlen(name);
  if (length < 1 || length > 64 || strspn(name, NAME_CHARACTERS) != length)
    return refuse(error, "a name has at most 64 letters, digits, - and _");
  if ((json_object_get(values, "key") == NULL) == (json_object_get(values, "keyfile") == NULL))
    return refuse(error, "a client has either a key or a keyfile");
  if (!add_client(loading, name, error)) return false;
  const char *key;
  json_t *value;
  json_object_foreach(values, key, value) if (!take_value(loading, key, value, error)) return false;
  return true;
}

static bool take_value(struct loading *loading, const char *key, const json_t *value, struct rd_error *error) {
  static const struct {
    const char *key;
    take_function *take;
  } rows[] = {{"keyfile", take_key_file}, {"key", take_key}, {"directory", take_directory}, {"rights", take_rights}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (strcmp(key, rows[i].key) != 0) continue;
    if (json_is_string(value)) return rows[i].take(loading, (char *)(uintptr_t)json_string_value(value), error);
    rd_error_set(error, RD_CODE_USAGE, "%s is not a string", key);
    return false;
  }
  rd_error_set(error, RD_CODE_USAGE, "unknown key %.64s (the keys are keyfile, key, directory and rights)", key);
  return false;
}

static bool add_client(struct loading *loading, const char *name, struct rd_error *error) {
  struct rd_clients *clients = loading->clients;
  if (rd_clients_place(clients, name) != NULL) {
    rd_error_set(error, RD_CODE_USAGE, "the client %s is defined twice", name);
    return false;
  }
  if (clients->count == CLIENTS_MAX) return refuse(error, "too many clients");
  int directory_fd = fcntl(loading->root_fd, F_DUPFD_CLOEXEC, 3);
  if (directory_fd < 0) {
    rd_error_set_errno(error, RD_CODE_USAGE, "cannot hold a directory open");
    return false;
  }
  clients->keys = rd_memory_resize(clients->keys, clients->count + 1, sizeof *clients->keys);
  clients->places = rd_memory_resize(clients->places, clients->count + 1, sizeof *clients->places);
  clients->keys[clients->count] = (struct rd_tls_client){0};
  snprintf(clients->keys[clients->count].name, sizeof clients->keys->name, "%s", name);
  clients->places[clients->count++] =
      (struct rd_client_grant){.directory_fd = directory_fd, .rights = loading->options->rights};
  return true;
}

static bool take_key_file(struct loading *loading, char *path, struct rd_error *error) {
  size_t bytes;
  struct rd_error reason;
  char *text = rd_private_file_read(path, KEY_MAX_BYTES, &bytes, error);
  if (text == NULL) return false;
  bool taken = strlen(text) == bytes ? take_key(loading, text, &reason) : refuse(&reason, "it contains a NUL byte");
  rd_private_file_free(text, bytes);
  if (!taken) rd_error_set(error, reason.code, "%.200s: %.200s", path, reason.message);
  return taken;
}

// The text must be one line, the key.
static bool take_key(struct loading *loading, char *text, struct rd_error *error) {
  unsigned char key[RD_KEY_BYTES];
  size_t length = strcspn(text, "\r\n");
  if (text[length + strspn(text + length, "\r\n")] != '\0') return refuse(error, "a key must be one line");
  text[length] = '\0';
  if (length < KEY_MIN_CHARACTERS) return refuse(error, "a key of fewer than 16 characters can be guessed");
  if (strspn(text, " \t") == length) return refuse(error, "the key consists of blanks");
  unsigned mistyped = rd_key_words_mistyped(text);
  if (mistyped > 0) {
    rd_error_set(error, RD_CODE_USAGE, "word %u of the key is mistyped", mistyped);
    return false;
  }
  struct rd_tls_client *client = &loading->clients->keys[loading->clients->count - 1];
  bool made = rd_key_from_text(text, key, error);
  if (made && !rd_key_for_service(key, client->psk)) made = refuse(error, "the key cannot be derived");
  explicit_bzero(key, sizeof key);
  return made;
}

// The directory may be moved or replaced later: the one that exists now is served.
static bool take_directory(struct loading *loading, char *path, struct rd_error *error) {
  struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
  int fd = (int)syscall(SYS_openat2, loading->root_fd, path, &how, sizeof how);
  if (fd < 0) {
    rd_error_set_errno(error, RD_CODE_USAGE, "directory %.200s, which must be below %.150s", path,
                       loading->options->directory);
    return false;
  }
  int *place = &loading->clients->places[loading->clients->count - 1].directory_fd;
  rd_cleanup_fd(place);
  *place = fd;
  return true;
}

// Grants no more than the command line allows.
static bool take_rights(struct loading *loading, char *text, struct rd_error *error) {
  enum rd_rights rights;
  if (!rd_rights_named(text, &rights)) return refuse(error, "rights are \"read\", \"write\" or \"both\"");
  rights &= loading->options->rights;
  loading->clients->places[loading->clients->count - 1].rights = rights;
  return rights != RD_RIGHTS_NONE || refuse(error, "--read-only or --write-only leaves this client no rights");
}

static bool refuse(struct rd_error *error, const char *reason) {
  rd_error_set(error, RD_CODE_USAGE, "%s", reason);
  return false;
}
