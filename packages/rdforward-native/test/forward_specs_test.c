// SPDX-License-Identifier: Apache-2.0
// Tests of the arguments of -L and -R: the forms that ssh accepts, and no others.
#include "forward/specs.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

static struct rd_error error;

// `meaning` has the form `listen address|port|target address|port`.
static bool means(const char *text, bool is_remote, const char *meaning) {
  struct rd_specs specs = {0};
  char got[400] = "refused";
  if (rd_specs_add(&specs, text, is_remote, &error)) {
    const struct rd_spec *spec = specs.items;
    snprintf(got, sizeof got, "%.80s|%u|%.80s|%u", spec->listen.address, spec->listen.port, spec->target.address,
             spec->target.port);
  }
  rd_specs_clear(&specs);
  return strcmp(got, meaning) == 0;
}

static void test_forms(void) {
  CHECK(means("5432:localhost:5433", false, "|5432|localhost|5433"));
  CHECK(means("localhost:80:h:81", false, "localhost|80|h|81"));
  CHECK(means(":80:h:81", false, "*|80|h|81") && means("*:80:h:81", true, "*|80|h|81"));
  CHECK(means("[::1]:80:[fe80::1%eth0]:81", false, "::1|80|fe80::1%eth0|81"));
  CHECK(means("80:/run/x", false, "|80|/run/x|0") && means("10.0.0.1:80:/run/x", false, "10.0.0.1|80|/run/x|0"));
  CHECK(means("/a:h:81", false, "/a|0|h|81") && means("/a:/b", true, "/a|0|/b|0"));
  CHECK(means("/a\\:b:/c\\\\", false, "/a:b|0|/c\\|0"));
  CHECK(means("0:h:81", true, "|0|h|81"));
}

static void test_refused(void) {
  static const char *const cases[] = {
      "",          "80",         "h",          "80:h",      "0:h:81",      "80:h:0",
      "80:h:",     "80::81",     ":h:81",      "65536:h:1", "80:h:65536",  "-1:h:1",
      "+1:h:1",    " 1:h:1",     "a:b:c:d",    "80:h:81:x", "[::1:80:h:1", "[::1]x:80:h:1",
      "8080/h/80", "80:/a:81:b", "a:80:h:81:", "/a\\"};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (!means(cases[i], false, "refused")) printf("# taken: %s\n", cases[i]);
    CHECK(means(cases[i], false, "refused") && error.code == RD_CODE_USAGE);
  }
}

static void test_open_to_all(void) {
  struct rd_specs specs = {0};
  char text[RD_PLACE_TEXT_BYTES];
  CHECK(rd_specs_add(&specs, "80:h:81", false, &error) && rd_specs_add(&specs, "::1:80:h:81", false, &error) == false);
  CHECK(rd_specs_add(&specs, "[::1]:80:h:81", false, &error));
  CHECK(rd_specs_add(&specs, "localhost:80:h:81", false, &error));
  rd_specs_open_to_all(&specs);
  CHECK(strcmp(specs.items[0].listen.address, "*") == 0 && strcmp(specs.items[1].listen.address, "::1") == 0);
  CHECK(strcmp(specs.items[2].listen.address, "localhost") == 0);
  rd_place_text(&specs.items[1].listen, text);
  CHECK(strcmp(text, "[::1]:80") == 0);
  rd_specs_clear(&specs);
}

int main(void) {
  test_forms();
  test_refused();
  test_open_to_all();
  return test_end("forward_specs");
}
