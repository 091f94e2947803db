// SPDX-License-Identifier: Apache-2.0
// Tests of the decoder of the settings of a copy's programs.
#include "setup/settings.h"

#include "test.h"

#include <stdint.h>
#include <string.h>

#define SCAN "{\"role\":\"scan\",\"run\":\"a-1\",\"sources\":[\"2f61\"]"
#define WRITE "{\"role\":\"write\",\"run\":\"a\",\"target\":\"62\""
#define KEY "120000000000000000000000000000ff"
#define MANY "\"61\",\"61\",\"61\",\"61\",\"61\",\"61\",\"61\","
#define RUN_63 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"

static struct rd_error error;

static struct rd_tree_settings *decode(const char *text) {
  return rd_tree_settings_decode(text, strlen(text), &error);
}

static bool is_good(const char *text) {
  struct rd_tree_settings *settings = decode(text);
  rd_tree_settings_destroy(settings);
  return settings != NULL;
}

static void test_all_fields(void) {
  struct rd_tree_settings *settings =
      decode("{\"role\":\"copy\",\"run\":\"" RUN_63 "\",\"sources\":[\"61\",\"ff2F0a\"],\"target\":\"7e2f\","
             "\"list\":\"none\",\"patterns\":[{\"include\":true,\"pattern\":\"2a\"},"
             "{\"include\":false,\"pattern\":\"\"}],\"recursive\":true,\"archive\":true,\"acls\":true,\"xattrs\":true,"
             "\"one_file_system\":true,\"checksum\":true,\"update\":true,\"remove\":true,\"remove_most\":0,\"make_"
             "parents\":true,"
             "\"partial\":true,\"in_place\":true,\"verify\":true,\"clean\":true,\"paths\":true,\"plan\":\"json\","
             "\"link_dests\":[\"2e2e\",\"2f61\"],\"jobs\":64,\"alone\":true,\"report\":\"verbose\","
             "\"key\":\"" KEY "\",\"list_text\":\"610062\",\"more\":[1]}");
  REQUIRE(settings != NULL);
  CHECK(settings->role == RD_TREE_COPY && strcmp(settings->run, RUN_63) == 0);
  CHECK(settings->source_count == 2 && strcmp(settings->sources[1], "\xff/\n") == 0);
  CHECK(strcmp(settings->target, "~/") == 0 && settings->list == RD_LIST_NONE && settings->plan == RD_PLAN_JSON);
  CHECK(settings->pattern_count == 2 && settings->patterns[0].is_include && !settings->patterns[1].is_include);
  CHECK(strcmp(settings->patterns[0].text, "*") == 0 && *settings->patterns[1].text == '\0');
  CHECK(settings->recursive && settings->archive && settings->acls && settings->xattrs && settings->one_file_system);
  CHECK(settings->update && settings->checksum && settings->remove && settings->make_parents && settings->partial &&
        settings->in_place);
  CHECK(settings->verify && settings->clean && settings->paths && settings->remove_most == 0 && settings->jobs == 64);
  CHECK(settings->alone && settings->report == RD_REPORT_VERBOSE);
  CHECK(settings->key[0] == 0x12 && settings->key[15] == 0xff);
  CHECK(settings->list_bytes == 3 && memcmp(settings->list_text, "a\0b", 3) == 0);
  CHECK(settings->link_dest_count == 2 && strcmp(settings->link_dests[1], "/a") == 0);
  rd_tree_settings_destroy(settings);
}

// Each flag sets its own field only.
static void test_one_flag(void) {
  struct rd_tree_settings *settings = decode(SCAN ",\"checksum\":true,\"verify\":false}");
  REQUIRE(settings != NULL);
  CHECK(settings->checksum && !settings->recursive && !settings->archive && !settings->acls && !settings->xattrs);
  CHECK(!settings->one_file_system && !settings->remove && !settings->make_parents && !settings->partial);
  CHECK(!settings->in_place && !settings->verify && !settings->clean && !settings->paths && !settings->update);
  rd_tree_settings_destroy(settings);
}

static void test_absent_fields(void) {
  struct rd_tree_settings *settings = decode(SCAN "}");
  REQUIRE(settings != NULL);
  CHECK(settings->role == RD_TREE_SCAN && settings->target == NULL && settings->pattern_count == 0);
  CHECK(settings->remove_most == UINT64_MAX && settings->jobs == 0 && !settings->recursive && !settings->paths);
  CHECK(settings->list == RD_LIST_NONE && settings->plan == RD_PLAN_NONE);
  CHECK(!settings->alone && settings->report == RD_REPORT_EVENTS);
  rd_tree_settings_destroy(settings);
  rd_tree_settings_destroy(NULL);
}

static void test_roles(void) {
  static const struct {
    const char *role;
    bool needs_source, needs_target;
  } rows[] = {
      {"scan", true, false}, {"compare", false, true}, {"read", true, false}, {"write", false, true},
      {"copy", true, true},  {"clean", true, false},   {"send", true, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (unsigned has = 0; has < 4; has++) {
      char text[256];
      snprintf(text, sizeof text, "{\"role\":\"%s\",\"run\":\"1\"%s%s}", rows[i].role,
               has & 1 ? ",\"sources\":[\"61\"]" : "", has & 2 ? ",\"target\":\"62\"" : "");
      bool is_enough = (!rows[i].needs_source || (has & 1) != 0) && (!rows[i].needs_target || (has & 2) != 0);
      CHECK(is_good(text) == is_enough);
    }
  }
}

// A copy to several targets.
static void test_part(void) {
  struct rd_tree_settings *settings = decode(WRITE ",\"width\":10000,\"rank\":9999,\"host\":\"ann@h1\"}");
  REQUIRE(settings != NULL);
  CHECK(settings->width == 10000 && settings->rank == 9999 && strcmp(settings->host, "ann@h1") == 0);
  rd_tree_settings_destroy(settings);
  CHECK(is_good("{\"role\":\"unite\",\"run\":\"a\",\"width\":2}") && !is_good("{\"role\":\"unite\",\"run\":\"a\"}"));
}

static void test_good(void) {
  CHECK(is_good(WRITE "}") && is_good(WRITE ",\"jobs\":0,\"patterns\":[],\"sources\":[]}"));
  CHECK(is_good(SCAN ",\"list\":\"lines\",\"plan\":\"text\"}") && is_good(SCAN ",\"list\":\"nul\"}"));
}

static void test_refused(void) {
  static const struct {
    const char *text, *words;
  } rows[] = {
      {"", ""},
      {"[]", "bject"},
      {"{", ""},
      {"{}", "role"},
      {SCAN "} {}", ""},
      {SCAN ",\"run\":\"b\"}", "run"},
      {"{\"role\":\"scan\",\"sources\":[\"61\"]}", "run"},
      {"{\"role\":\"Scan\",\"run\":\"a\",\"sources\":[\"61\"]}", "role"},
      {"{\"role\":\"scan\",\"run\":\"\",\"sources\":[\"61\"]}", "run"},
      {"{\"role\":\"scan\",\"run\":\"../a\",\"sources\":[\"61\"]}", "run"},
      {"{\"role\":\"scan\",\"run\":\"A\",\"sources\":[\"61\"]}", "run"},
      {"{\"role\":\"scan\",\"run\":\"" RUN_63 "0\",\"sources\":[\"61\"]}", "run"},
      {"{\"role\":\"scan\",\"run\":1,\"sources\":[\"61\"]}", "tring"},
      {"{\"role\":\"scan\",\"run\":\"a\",\"sources\":\"61\"}", "sources"},
      {"{\"role\":\"scan\",\"run\":\"a\",\"sources\":[\"\"]}", "source"},
      {"{\"role\":\"scan\",\"run\":\"a\",\"sources\":[\"6\"]}", "source"},
      {"{\"role\":\"scan\",\"run\":\"a\",\"sources\":[\"6g\"]}", "source"},
      {"{\"role\":\"scan\",\"run\":\"a\",\"sources\":[\"610062\"]}", "source"},
      {"{\"role\":\"scan\",\"run\":\"a\",\"sources\":[1]}", "source"},
      {"{\"role\":\"scan\",\"run\":\"a\",\"sources\":[\"61\",\"62\"],\"list\":\"nul\"}", "list"},
      {WRITE ",\"target\":\"63\"}", "target"},
      {WRITE ",\"width\":10001}", "width"},
      {WRITE ",\"width\":-1}", "width"},
      {WRITE ",\"width\":2,\"rank\":2}", "rank"},
      {WRITE ",\"rank\":1}", "rank"},
      {WRITE ",\"host\":1}", "tring"},
      {"{\"role\":\"write\",\"run\":\"a\",\"target\":\"00\"}", "target"},
      {"{\"role\":\"write\",\"run\":\"a\",\"target\":\"\"}", "target"},
      {"{\"role\":\"write\",\"run\":\"a\",\"target\":null}", "target"},
      {WRITE ",\"link_dests\":\"61\"}", "link_dests"},
      {WRITE ",\"link_dests\":[\"\"]}", "link_dests"},
      {WRITE ",\"link_dests\":[\"61\",0]}", "link_dests"},
      {WRITE ",\"link_dests\":[" MANY MANY MANY "\"61\"]}", "link_dests"},
      {WRITE ",\"jobs\":-1}", "jobs"},
      {WRITE ",\"jobs\":65}", "jobs"},
      {WRITE ",\"jobs\":1.5}", "jobs"},
      {WRITE ",\"jobs\":99999999999999999999}", ""},
      {WRITE ",\"remove_most\":-1}", "remove_most"},
      {WRITE ",\"remove\":1}", "remove"},
      {WRITE ",\"verify\":\"yes\"}", "verify"},
      {WRITE ",\"in_place\":null}", "in_place"},
      {SCAN ",\"list\":\"line\"}", "list"},
      {SCAN ",\"list\":true}", "list"},
      {SCAN ",\"list_text\":\"6\"}", "list_text"},
      {SCAN ",\"list_text\":[]}", "list_text"},
      {WRITE ",\"key\":\"12\"}", "key"},
      {WRITE ",\"key\":\"" KEY "00\"}", "key"},
      {WRITE ",\"key\":7}", "key"},
      {SCAN ",\"plan\":\"\"}", "plan"},
      {SCAN ",\"report\":\"lines\"}", "report"},
      {SCAN ",\"report\":3}", "report"},
      {SCAN ",\"patterns\":{}}", "patterns"},
      {SCAN ",\"patterns\":[\"61\"]}", "bject"},
      {SCAN ",\"patterns\":[{\"pattern\":\"61\"}]}", "include"},
      {SCAN ",\"patterns\":[{\"include\":true}]}", "pattern"},
      {SCAN ",\"patterns\":[{\"include\":1,\"pattern\":\"61\"}]}", "rue or false"},
      {SCAN ",\"patterns\":[{\"include\":true,\"pattern\":\"0\"}]}", "pattern"},
      {SCAN ",\"patterns\":[{\"include\":true,\"pattern\":\"6100\"}]}", "pattern"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bool is_refused = !is_good(rows[i].text) && error.code == RD_CODE_INTERNAL && strstr(error.message, rows[i].words);
    if (!CHECK(is_refused)) fprintf(stderr, "  %s: %s\n", rows[i].text, error.message);
  }
}

int main(void) {
  test_all_fields();
  test_one_flag();
  test_absent_fields();
  test_roles();
  test_part();
  test_good();
  test_refused();
  return test_end("rdtree settings");
}
