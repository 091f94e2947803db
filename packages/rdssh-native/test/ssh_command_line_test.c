// SPDX-License-Identifier: Apache-2.0
// Tests of the parser of ssh's command line: options as -o, and which program runs the command line.
#include "ssh/command_line.h"

#include "test.h"

#include <string.h>

#define WORDS_MAX 16

static char seen[2048];

static void show(const char *mark, const struct rd_ssh_words *words) {
  for (size_t i = 0; i < words->count; i++) {
    strncat(seen, mark, sizeof seen - strlen(seen) - 1);
    strncat(seen, words->items[i], sizeof seen - strlen(seen) - 1);
    strncat(seen, " ", sizeof seen - strlen(seen) - 1);
  }
}

// Returns the result for the words of `text`, separated by blanks: `use HOST options +own >forwards =command`.
static const char *parsed(const char *text, bool is_terminal) {
  static const char *const uses[] = {"ssh", "command", "forwards", "help"};
  char copy[512], *words[WORDS_MAX] = {0}, *rest = copy;
  int count = 0;
  snprintf(copy, sizeof copy, "%s", text);
  for (char *word; count < WORDS_MAX && (word = strsep(&rest, " ")) != NULL;) words[count++] = word;
  struct rd_ssh_command_line line;
  rd_ssh_command_line_parse(&line, count, words, is_terminal);
  snprintf(seen, sizeof seen, "%s %s ", uses[line.use], line.use == RD_SSH_COMMAND ? line.host : "");
  if (line.use != RD_SSH_ITSELF) {
    show("", &line.options);
    show("+", &line.own);
    show(">", &line.forwards);
    show("=", &line.command);
  }
  rd_ssh_command_line_destroy(&line);
  return seen;
}

static void check_parsed(const char *text, const char *expected) {
  bool is_right = strcmp(parsed(text, false), expected) == 0;
  if (!is_right) printf("%s: %s\n", text, seen);
  CHECK(is_right);
}

static void test_commands(void) {
  static const char *const cases[][2] = {
      {"rdssh h ls", "command h =ls "},
      {"rdssh a@h ls -l", "command h User=a =ls =-l "},
      {"rdssh a@b@h ls", "command h User=a@b =ls "},
      {"rdssh h -p22 ls", "command h Port=22 =ls "},
      {"rdssh -p 22 h -- -l", "command h Port=22 =-l "},
      {"rdssh -- h -p 22", "command h =-p =22 "},
      {"rdssh -vvp22 h ls", "command h Port=22 =ls "},
      {"rdssh -l a b@h ls", "command h User=a User=b =ls "},
      {"rdssh -4 -6 h ls", "command h AddressFamily=inet6 AddressFamily=inet =ls "},
      {"rdssh -o A=1 -S none -o B=2 h ls", "command h ControlPath=none A=1 B=2 =ls "},
      {"rdssh ssh://a@h:22 ls", "command h User=a Port=22 =ls "},
      {"rdssh ssh://[::1]:22 ls", "command ::1 Port=22 =ls "},
      {"rdssh ::1 ls", "command ::1 =ls "},
      {"rdssh h -s sftp", "command h =sftp "},
      {"rdssh -s -- h sftp", "command h =sftp "},
      {"rdssh -e none -E log h ls", "command h =ls "},
      {"rdssh -t -t -T h ls", "command h RequestTTY=no RequestTTY=no RequestTTY=no =ls "},
      {"rdssh -t h ls", "command h RequestTTY=no =ls "},
      {"rdssh --persist=0 --poll h ls", "command h +--persist=0 +--poll =ls "},
      {"rdssh --help -X", "help  +--help "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_parsed(cases[i][0], cases[i][1]);
}

static void test_left_to_ssh(void) {
  static const char *const cases[] = {
      "rdssh",
      "rdssh h",
      "rdssh -tt h ls",
      "rdssh -N h",
      "rdssh -D 1080 h ls",
      "rdssh -W h:22 g",
      "rdssh -M h ls",
      "rdssh -O exit h",
      "rdssh -f h ls",
      "rdssh -X h ls",
      "rdssh -Y h ls",
      "rdssh -G h ls",
      "rdssh -V",
      "rdssh -Q cipher",
      "rdssh -w 0:0 h x",
      "rdssh -y h ls",
      "rdssh -p",
      "rdssh -1 h ls",
      "rdssh -! h ls",
      "rdssh h --foo",
      "rdssh @h ls",
      "rdssh -J a -J b h ls",
      "rdssh - ls",
      "rdssh -- -h ls",
      "rdssh a@ ls",
      "rdssh ssh://h:/ ls",
      "rdssh -s h netconf",
      "rdssh -s h",
      "rdssh -L 1:h:2 h ls",
      "rdssh -N -R 1080 h",
      "rdssh -N -R [::1]:1080 h",
      "rdssh ssh://h%20x ls",
      "rdssh ssh://[::1 ls",
      "rdssh ssh://[::1]x ls",
      "rdssh ssh:// ls",
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_parsed(cases[i], "ssh  ");
  CHECK(strncmp(parsed("rdssh -t h ls", true), "ssh ", 4) == 0);
}

// A later -v counts, so that the reason is printed.
static void test_reasons(void) {
  static const struct {
    const char *text;
    unsigned verbose;
    const char *reason;
  } cases[] = {
      {"rdssh -v", 1, "it has no host"},
      {"rdssh -v h", 1, "it has no command"},
      {"rdssh -D 1080 -vv h", 2, "only ssh supports -D"},
      {"rdssh -X h -v ls", 1, "only ssh supports -X"},
      {"rdssh -tt -v h ls", 1, "-tt requests a terminal"},
      {"rdssh -N h -v", 1, "it has -N without -L or -R"},
      {"rdssh -N -L 1:h:2 -v h ls", 1, "it has -N and a command"},
      {"rdssh -R 1080 -N -v h", 1, "only ssh supports a forward without a target"},
      {"rdssh -L 1:h:2 h -v ls", 1, "only ssh supports -L and -R with a command"},
      {"rdssh -fv h ls", 1, "only ssh supports -f with a command"},
      {"rdssh -sv h netconf", 1, "only ssh supports subsystems other than sftp"},
      {"rdssh -v @h ls", 1, "only ssh can parse its host"},
      {"rdssh -J a -J b -v h ls", 1, "it has -J twice"},
      {"rdssh -o requesttty=force -v h ls", 1, "only ssh supports RequestTTY"},
      {"rdssh -v h -oSessionType=subsystem sftp", 1, "only ssh supports SessionType"},
      {"rdssh -vo ForkAfterAuthentication=yes h ls", 1, "only ssh supports ForkAfterAuthentication"},
      {"rdssh -vo LocalForward=1 h ls", 1, "only ssh supports LocalForward"},
      {"rdssh -vo VisualHostKey=\"no\" h ls", 1, "only ssh supports VisualHostKey"},
      {"rdssh -ve bad h ls", 1, "only ssh supports -e"},
      {"rdssh -v -e ^x -o RequestTTY=No -o StdinNull=no h ls", 1, NULL},
      {"rdssh -v -o TunnelDevice=any -o Tunnel=no h ls", 1, NULL},
      {"rdssh -v h --foo", 1, "an option that begins with -- follows the host"},
      {"rdssh -v h ls", 1, NULL},
      {"rdssh -v --help", 1, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char copy[128], *words[WORDS_MAX] = {0}, *rest = copy;
    int count = 0;
    snprintf(copy, sizeof copy, "%s", cases[i].text);
    for (char *word; (word = strsep(&rest, " ")) != NULL;) words[count++] = word;
    struct rd_ssh_command_line line;
    rd_ssh_command_line_parse(&line, count, words, false);
    const char *wanted = cases[i].reason;
    bool is_right = line.verbose == cases[i].verbose &&
                    (wanted == NULL ? line.reason == NULL : line.reason != NULL && strcmp(line.reason, wanted) == 0);
    if (!is_right) printf("%s: %s\n", cases[i].text, line.reason);
    CHECK(is_right);
    rd_ssh_command_line_destroy(&line);
  }
}

static void test_forwards(void) {
  static const char *const cases[][2] = {
      {"rdssh -N -L 1:h:2 g", "forwards  >-L >1:h:2 "},
      {"rdssh -NfL 1:h:2 -R /s:/t g", "forwards  >-L >1:h:2 >-R >/s:/t "},
      {"rdssh -N -R [::1]:1:h:2 g -p 3", "forwards  Port=3 >-R >[::1]:1:h:2 "},
      {"rdssh -N -L 1:/s g", "forwards  >-L >1:/s "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_parsed(cases[i][0], cases[i][1]);
}

int main(void) {
  test_commands();
  test_left_to_ssh();
  test_reasons();
  test_forwards();
  return test_end("ssh_command_line");
}
