// SPDX-License-Identifier: Apache-2.0
// Tests of a server's clients: which key files are accepted, and the rights of each client.
#include "serve/clients.h"

#include "test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEX "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static char directory[] = "/tmp/rdpipe-clients-test-XXXXXX";
static char paths[8][128];
static struct rd_error error;

static const char *path_of(int number, const char *name) {
  snprintf(paths[number], sizeof paths[number], "%s/%s", directory, name);
  return paths[number];
}

static const char *write_file(int number, const char *name, const char *text, mode_t mode) {
  const char *path = path_of(number, name);
  FILE *file = fopen(path, "w");
  REQUIRE(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(path, mode) == 0);
  return path;
}

static struct rd_clients *load(const char *key_file, const char *client_file, enum rd_rights rights) {
  struct rd_serve_options options = {
      .directory = directory, .key_file = key_file, .client_file = client_file, .rights = rights};
  return rd_clients_load(&options, &error);
}

static bool refuses(const char *text, const char *words) {
  struct rd_clients *clients = load(NULL, write_file(7, "clients.json", text, 0600), RD_RIGHTS_BOTH);
  rd_clients_destroy(clients);
  bool refused = clients == NULL && error.code == RD_CODE_USAGE && strstr(error.message, words) != NULL;
  if (!refused) fprintf(stderr, "%s\n", clients == NULL ? error.message : "it was taken");
  return refused;
}

static void test_key_files(void) {
  static const struct {
    const char *text;
    mode_t mode;
    const char *words; // NULL: the file is accepted
  } cases[] = {
      {HEX "\n", 0600, NULL},
      {HEX, 0400, NULL},
      {"sixteen characters long at least", 0600, NULL},
      {HEX "\n", 0640, "chmod go="},
      {HEX "\n", 0604, "chmod go="},
      {HEX "\n", 0620, "chmod go="},
      {"short\n", 0600, "can be guessed"},
      {"", 0600, "can be guessed"},
      {HEX "\n" HEX "\n", 0600, "one line"},
      {"                    \n", 0600, "blanks"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct rd_clients *clients = load(write_file(0, "key", cases[i].text, cases[i].mode), NULL, RD_RIGHTS_READ);
    CHECK((clients != NULL) == (cases[i].words == NULL));
    if (clients == NULL) CHECK(cases[i].words != NULL && strstr(error.message, cases[i].words) != NULL);
    if (clients != NULL) CHECK(clients->count == 1 && rd_clients_place(clients, "default")->rights == RD_RIGHTS_READ);
    rd_clients_destroy(clients);
  }
  CHECK(load(directory, NULL, RD_RIGHTS_BOTH) == NULL && strstr(error.message, "not a regular file") != NULL);
  CHECK(load(path_of(0, "missing"), NULL, RD_RIGHTS_BOTH) == NULL);
}

static void test_clients(void) {
  struct stat own, team, root;
  REQUIRE(mkdir(path_of(1, "team"), 0700) == 0 && stat(paths[1], &own) == 0 && stat(directory, &root) == 0);
  REQUIRE(symlink("/", path_of(2, "out")) == 0);
  char text[1024];
  snprintf(text, sizeof text,
           "{\"client\": {\n  \"alice\": {\"keyfile\": \"%s\", \"directory\": \"team\", \"rights\": \"write\"},\n"
           "  \"bob\": {\"key\": \"" HEX "\"}\n}}\n",
           write_file(3, "alice", "another key of some length\n", 0600));
  struct rd_clients *clients = load(NULL, write_file(4, "good.json", text, 0600), RD_RIGHTS_BOTH);
  REQUIRE(clients != NULL);
  const struct rd_client_grant *alice = rd_clients_place(clients, "alice"), *bob = rd_clients_place(clients, "bob");
  CHECK(clients->count == 2 && rd_clients_place(clients, "default") == NULL);
  CHECK(alice->rights == RD_RIGHTS_WRITE && fstat(alice->directory_fd, &team) == 0 && team.st_ino == own.st_ino);
  CHECK(bob->rights == RD_RIGHTS_BOTH && fstat(bob->directory_fd, &team) == 0 && team.st_ino == root.st_ino);
  CHECK(memcmp(clients->keys[0].psk, clients->keys[1].psk, RD_KEY_BYTES) != 0);
  rd_clients_destroy(clients);
  CHECK(load(NULL, write_file(4, "good.json", text, 0644), RD_RIGHTS_BOTH) == NULL);
  CHECK(load(NULL, write_file(4, "good.json", text, 0600), RD_RIGHTS_READ) == NULL);
  CHECK(strstr(error.message, "no rights") != NULL);
}

static void test_mistakes(void) {
#define CLIENT(values) "{\"client\": {\"a\": {" values "}}}"
#define KEY "\"key\": \"" HEX "\""
  static const char name_64[] = "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn";
  static const char *const cases[][2] = {
      {"", "line 1: "},
      {"{\n  \"client\": x\n}", "line 2: "},
      {"[client.a]\nkey = \"" HEX "\"\n", "line 1: "},
      {"[]", "it must be"},
      {"{}", "it must be"},
      {"{\"client\": {}}", "at least one client"},
      {"{\"client\": []}", "it must be"},
      {"{\"server\": {\"a\": {" KEY "}}}", "it must be"},
      {"{\"client\": {\"a\": {" KEY "}}, \"more\": 1}", "it must be"},
      {"{\"client\": {\"a\": {" KEY "}, \"a\": {" KEY "}}}", "duplicate"},
      {"{\"client\": {\"\": {" KEY "}}}", "a name has"},
      {"{\"client\": {\"a b\": {" KEY "}}}", "client a b: a name has"},
      {"{\"client\": {\"a\": \"" HEX "\"}}", "either a key"},
      {CLIENT(""), "client a: a client has either a key"},
      {CLIENT(KEY ", \"keyfile\": \"/k\""), "either a key"},
      {CLIENT(KEY ", " KEY), "duplicate"},
      {CLIENT(KEY ", \"port\": \"1\""), "client a: unknown key port"},
      {CLIENT(KEY ", \"rights\": \"all\""), "rights are"},
      {CLIENT(KEY ", \"rights\": \"none\""), "rights are"},
      {CLIENT(KEY ", \"directory\": 5"), "directory is not a string"},
      {CLIENT("\"key\": \"short\""), "guessed"},
      {CLIENT("\"key\": \"" HEX "\\n" HEX "\""), "one line"},
      {CLIENT("\"key\": \"sixteen characters \\u0000 or more\""), "line 1: "},
      {CLIENT("\"keyfile\": \"/does/not/exist\""), "client a: cannot read"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) CHECK(refuses(cases[i][0], cases[i][1]));
  char text[512];
  snprintf(text, sizeof text, "{\"client\": {\"%s\": {" KEY "}, \"%sn\": {" KEY "}}}", name_64, name_64);
  CHECK(refuses(text, "nn: a name has"));
  static const char *const outside[] = {"..", "../x", "/etc", "out", "out/etc", "team/../..", "missing", ""};
  for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
    snprintf(text, sizeof text, CLIENT(KEY ", \"directory\": \"%s\""), outside[i]);
    CHECK(refuses(text, "which must be below"));
  }
}

int main(void) {
  REQUIRE(mkdtemp(directory) != NULL);
  test_key_files();
  test_clients();
  test_mistakes();
  char command[64];
  snprintf(command, sizeof command, "rm -rf %s", directory);
  CHECK(system(command) == 0);
  return test_end("clients");
}
