// SPDX-License-Identifier: Apache-2.0
// The target of a copy: where entries go, and which targets are refused.
#include "entry/target_path.h"

#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct rd_error error;

static void begin(void) {
  static char directory[] = "/tmp/rdtree-target-XXXXXX";
  REQUIRE(mkdtemp(directory) != NULL && chdir(directory) == 0);
  setenv("HOME", directory, 1);
  REQUIRE(mkdir("dir", 0755) == 0 && close(creat("file", 0644)) == 0);
  REQUIRE(symlink("dir", "to-dir") == 0 && symlink("file", "to-file") == 0 && symlink("nowhere", "dangling") == 0);
}

static void end(void) {
  char directory[PATH_MAX];
  REQUIRE(getcwd(directory, sizeof directory) != NULL);
  static const char *const names[] = {"to-dir", "to-file", "dangling", "file"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(names[i]);
  CHECK(rmdir("dir") == 0 && rmdir(directory) == 0);
}

static void places(void) {
  static const struct {
    const char *path;
    enum rd_target_mode of_only_file;
  } cases[] = {
      {"dir", RD_PLACE_INTO},    {"dir/", RD_PLACE_INTO},  {"to-dir", RD_PLACE_INTO}, {"~", RD_PLACE_INTO},
      {"~/dir", RD_PLACE_INTO},  {".", RD_PLACE_INTO},     {"/", RD_PLACE_INTO},      {"new/", RD_PLACE_INTO},
      {"new/..", RD_PLACE_INTO}, {"new/.", RD_PLACE_INTO}, {"file/", RD_PLACE_INTO},  {"new", RD_PLACE_AS},
      {"file", RD_PLACE_AS},     {"to-file", RD_PLACE_AS}, {"dangling", RD_PLACE_AS}, {"a/new", RD_PLACE_AS},
      {"~new", RD_PLACE_AS},     {"...", RD_PLACE_AS},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (!CHECK(rd_target_place(cases[i].path, true) == cases[i].of_only_file)) fprintf(stderr, "%s\n", cases[i].path);
    CHECK(rd_target_place(cases[i].path, false) == RD_PLACE_INTO);
  }
}

enum expected { OPEN, MISSING, REFUSED };

static void opens(void) {
  static const struct {
    const char *path;
    enum rd_target_mode place;
    bool make_parents;
    enum expected expected;
    const char *words; // the error message, or the name of AS
  } cases[] = {
      {"dir", RD_PLACE_INTO, false, OPEN, NULL},
      {"dir//", RD_PLACE_INTO, false, OPEN, NULL},
      {"to-dir", RD_PLACE_INTO, false, OPEN, NULL},
      {"~/dir", RD_PLACE_INTO, false, OPEN, NULL},
      {"~", RD_PLACE_INTO, false, OPEN, NULL},
      {"/", RD_PLACE_INTO, false, OPEN, NULL},
      {"new", RD_PLACE_INTO, false, MISSING, NULL},
      {"dir/new//", RD_PLACE_INTO, false, MISSING, NULL},
      {"a/new", RD_PLACE_INTO, false, REFUSED, "the directory a does not exist (to create it, use --mkpath)"},
      {"a/b/new", RD_PLACE_INTO, true, MISSING, NULL},
      {"file", RD_PLACE_INTO, false, REFUSED, "cannot copy into file: not a directory"},
      {"to-file", RD_PLACE_INTO, false, REFUSED, "cannot copy into to-file: not a directory"},
      {"dangling", RD_PLACE_INTO, true, REFUSED, "cannot copy into dangling: no such file or directory"},
      {"file/new", RD_PLACE_INTO, true, REFUSED, "cannot copy into file/new: not a directory"},
      {"new", RD_PLACE_AS, false, OPEN, "new"},
      {"file", RD_PLACE_AS, false, OPEN, "file"},
      {"to-dir/file", RD_PLACE_AS, false, OPEN, "file"},
      {"~/dir//new", RD_PLACE_AS, false, OPEN, "new"},
      {"/new", RD_PLACE_AS, false, OPEN, "new"},
      {"a//new", RD_PLACE_AS, false, REFUSED, "the directory a does not exist (to create it, use --mkpath)"},
      {"a/b/new", RD_PLACE_AS, true, MISSING, "new"},
      {"file/new", RD_PLACE_AS, true, REFUSED, "cannot copy into file: not a directory"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct rd_target target;
    bool is_open = rd_target_open(&target, cases[i].path, cases[i].place, cases[i].make_parents, &error);
    bool is_right = is_open == (cases[i].expected != REFUSED);
    if (is_right && !is_open) is_right = strcmp(error.message, cases[i].words) == 0 && target.path == NULL;
    if (is_right && is_open) is_right = (target.directory_fd >= 0) == (cases[i].expected == OPEN);
    if (is_right && is_open && cases[i].words != NULL) is_right = strcmp(target.name, cases[i].words) == 0;
    if (!CHECK(is_right)) fprintf(stderr, "%s: %s\n", cases[i].path, is_open ? "open" : error.message);
    if (is_open) rd_target_close(&target);
  }
}

static void a_name_of_it_is_open(void) {
  struct rd_target target;
  struct stat status, other;
  REQUIRE(rd_target_open(&target, "~/to-dir/", RD_PLACE_INTO, false, &error));
  CHECK(fstat(target.directory_fd, &status) == 0 && stat("dir", &other) == 0 && status.st_ino == other.st_ino);
  CHECK(target.path[0] == '/' && target.path[strlen(target.path) - 1] == 'r');
  rd_target_close(&target);
  rd_target_close(&target);
  rd_target_close(NULL);
}

int main(void) {
  begin();
  places();
  opens();
  a_name_of_it_is_open();
  end();
  return test_end("target_path");
}
