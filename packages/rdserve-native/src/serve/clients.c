// SPDX-License-Identifier: Apache-2.0
#include "serve/clients.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "crypto/key_derivation.h"
#include "crypto/key_words.h"
#include "serve/private_file.h"
#include "serve/table_file.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#define KEY_MAX_BYTES 1024u
#define KEY_MIN_CHARACTERS 16u
#define CLIENTS_MAX 4096u

struct loading {
  const struct rd_serve_options *options;
  struct rd_clients *clients;
  int root_fd;
  bool has_key, has_directory, has_rights; // of the last client
  unsigned table_line;
};

static bool load(struct loading *loading, struct rd_error *error);
static bool load_client_file(struct loading *loading, struct rd_error *error);
static bool on_line(void *context, const struct rd_table_line *line, struct rd_error *error);
static bool begin_client(struct loading *loading, const struct rd_table_line *line, struct rd_error *error);
static bool add_client(struct loading *loading, const char *name, struct rd_error *error);
static bool take_key_file(struct loading *loading, const char *path, struct rd_error *error);
static bool take_key(struct loading *loading, char *text, struct rd_error *error);
static bool take_directory(struct loading *loading, const char *path, struct rd_error *error);
static bool take_rights(struct loading *loading, const char *text, struct rd_error *error);
static bool once(bool *given, const char *key, struct rd_error *error);
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
      (!add_client(loading, "default", error) || !take_key_file(loading, options->key_file, error)))
    return false;
  return options->client_file == NULL || load_client_file(loading, error);
}

static bool load_client_file(struct loading *loading, struct rd_error *error) {
  const char *path = loading->options->client_file;
  size_t bytes;
  struct rd_error reason;
  char *text = rd_private_file_read(path, RD_TABLE_FILE_MAX_BYTES, &bytes, error);
  if (text == NULL) return false;
  size_t before = loading->clients->count;
  loading->has_key = true;
  bool is_read = rd_table_file_read(text, bytes, on_line, loading, &reason);
  if (is_read && !loading->has_key) {
    rd_error_set(&reason, RD_CODE_USAGE, "line %u: the client has no key", loading->table_line);
    is_read = false;
  }
  if (is_read && loading->clients->count == before) is_read = refuse(&reason, "there is no [client.NAME]");
  rd_private_file_free(text, bytes);
  if (!is_read) rd_error_set(error, RD_CODE_USAGE, "%.150s: %.300s", path, reason.message);
  return is_read;
}

static bool on_line(void *context, const struct rd_table_line *line, struct rd_error *error) {
  struct loading *loading = context;
  if (line->key[0] == '\0') return begin_client(loading, line, error);
  if (strcmp(line->key, "keyfile") == 0)
    return once(&loading->has_key, "key or keyfile", error) && take_key_file(loading, line->value, error);
  if (strcmp(line->key, "key") == 0) {
    char text[RD_TABLE_VALUE_BYTES];
    memcpy(text, line->value, sizeof text);
    bool taken = once(&loading->has_key, "key or keyfile", error) && take_key(loading, text, error);
    explicit_bzero(text, sizeof text);
    return taken;
  }
  if (strcmp(line->key, "directory") == 0)
    return once(&loading->has_directory, "directory", error) && take_directory(loading, line->value, error);
  if (strcmp(line->key, "rights") == 0)
    return once(&loading->has_rights, "rights", error) && take_rights(loading, line->value, error);
  rd_error_set(error, RD_CODE_USAGE, "unknown key %s (the keys are keyfile, key, directory and rights)", line->key);
  return false;
}

static bool begin_client(struct loading *loading, const struct rd_table_line *line, struct rd_error *error) {
  if (strcmp(line->table, "client") != 0) return refuse(error, "unknown table (only [client.NAME] is allowed)");
  if (!loading->has_key) {
    rd_error_set(error, RD_CODE_USAGE, "the client defined in line %u has no key", loading->table_line);
    return false;
  }
  loading->has_key = loading->has_directory = loading->has_rights = false;
  loading->table_line = line->number;
  return add_client(loading, line->name, error);
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

static bool take_key_file(struct loading *loading, const char *path, struct rd_error *error) {
  size_t bytes;
  struct rd_error reason;
  char *text = rd_private_file_read(path, KEY_MAX_BYTES, &bytes, error);
  if (text == NULL) return false;
  bool taken = take_key(loading, text, &reason);
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
static bool take_directory(struct loading *loading, const char *path, struct rd_error *error) {
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
static bool take_rights(struct loading *loading, const char *text, struct rd_error *error) {
  static const enum rd_serve_rights all[] = {RD_RIGHTS_READ, RD_RIGHTS_WRITE, RD_RIGHTS_BOTH};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (strcmp(text, rd_serve_rights_name(all[i])) != 0) continue;
    enum rd_serve_rights rights = all[i] & loading->options->rights;
    loading->clients->places[loading->clients->count - 1].rights = rights;
    return rights != 0 || refuse(error, "--read-only or --write-only leaves this client no rights");
  }
  return refuse(error, "rights are \"read\", \"write\" or \"both\"");
}

static bool once(bool *given, const char *key, struct rd_error *error) {
  if (*given) rd_error_set(error, RD_CODE_USAGE, "%s is given twice", key);
  bool is_first = !*given;
  *given = true;
  return is_first;
}

static bool refuse(struct rd_error *error, const char *reason) {
  rd_error_set(error, RD_CODE_USAGE, "%s", reason);
  return false;
}
