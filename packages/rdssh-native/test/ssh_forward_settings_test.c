// SPDX-License-Identifier: Apache-2.0
// Tests of what `ssh -G` prints about forwards.
#include "ssh/forward_settings.h"

#include "test.h"

#include <string.h>

static char seen[512];

// Returns the settings as `gateway replace all ssh -L SPEC …`.
static const char *parsed(const char *answer) {
  struct rd_ssh_forward_settings settings;
  rd_ssh_forward_settings_parse(&settings, answer);
  snprintf(seen, sizeof seen, "%s%s%s%s", settings.gateway_ports ? "gateway " : "",
           settings.replace_sockets ? "replace " : "", settings.all_or_none ? "all " : "",
           settings.for_ssh ? "ssh " : "");
  for (size_t i = 0; i < settings.forwards.count; i++) {
    strncat(seen, settings.forwards.items[i], sizeof seen - strlen(seen) - 1);
    strncat(seen, " ", sizeof seen - strlen(seen) - 1);
  }
  rd_ssh_forward_settings_destroy(&settings);
  return seen;
}

static bool means(const char *answer, const char *meaning) {
  bool is_right = strcmp(parsed(answer), meaning) == 0;
  if (!is_right) printf("# %s: %s\n", answer, seen);
  return is_right;
}

static void test_flags(void) {
  CHECK(means("", ""));
  CHECK(means("host h\ngatewayports no\nexitonforwardfailure no\nstreamlocalbindunlink no\n", ""));
  CHECK(means("gatewayports yes\nstreamlocalbindunlink yes\nexitonforwardfailure yes\n", "gateway replace all "));
  CHECK(means("gatewayports yesterday\ngatewayportsyes\n", ""));
}

static void test_forwards(void) {
  CHECK(means("localforward 5432 [localhost]:5432\n", "-L 5432:[localhost]:5432 "));
  CHECK(means("localforward [*]:80 [h]:90\nremoteforward /a [::1]:3", "-L [*]:80:[h]:90 -R /a:[::1]:3 "));
  CHECK(means("dynamicforward /a\nlocalforward /a /b\n", "-L /a:/b "));
}

static void test_only_ssh(void) {
  CHECK(means("dynamicforward 1080\n", "ssh "));
  CHECK(means("dynamicforward /a\ndynamicforward 1080\nlocalforward /a /b\n", "ssh -L /a:/b "));
  CHECK(means("remoteforward 1080 [socks]:0\n", "ssh "));
  CHECK(means("clearallforwardings yes\n", "ssh "));
  CHECK(means("localforward 80\nlocalforward a b c\n", "ssh "));
}

int main(void) {
  test_flags();
  test_forwards();
  test_only_ssh();
  return test_end("ssh_forward_settings");
}
