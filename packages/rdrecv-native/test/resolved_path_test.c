// SPDX-License-Identifier: Apache-2.0
// Tests of the resolution of sinks' paths: links of all kinds.
// Among them are links that another user put into a shared directory.
#include "sink/resolved_path.h"

#include "base/io.h"
#include "sink/sink.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRANGER 1234u

static struct rd_error error;
static atomic_bool stop;
static char directory[] = "/tmp/rd-path-XXXXXX";

static bool write_sink(const char *path, bool append) {
  struct rd_sink *sink = rd_sink_open(path, append, &error);
  bool done = sink != NULL && rd_sink_write(sink, (const unsigned char *)"new", 3, &stop, &error) &&
              rd_sink_commit(sink, &error);
  rd_sink_destroy(sink);
  return done;
}

static bool holds(const char *path, const char *text) {
  char seen[16] = "";
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = rd_read_some(fd, seen, sizeof seen - 1);
  close(fd);
  return got == (ssize_t)strlen(text) && strcmp(seen, text) == 0;
}

static void put_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0 && rd_write_all(fd, text, strlen(text)));
  close(fd);
}

static void test_paths(void) {
  REQUIRE(mkdir("a", 0700) == 0 && mkdir("a/b", 0700) == 0);
  static const char *const paths[] = {"f", "./f", "a/../f", "//tmp/../proc/self/cwd/f", "a//b/./../../f"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    CHECK(write_sink(paths[i], false) && holds("f", "new") && unlink("f") == 0);
    CHECK(write_sink(paths[i], true) && write_sink(paths[i], true) && holds("f", "newnew") && unlink("f") == 0);
  }
  static const char *const wrong[] = {"", "/", ".", "..", "a", "a/", "f/", "a/..", "none/f"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    CHECK(!write_sink(wrong[i], false) && error.code == RD_CODE_SINK_UNWRITABLE);
  char long_name[NAME_MAX + 2];
  memset(long_name, 'n', sizeof long_name);
  long_name[NAME_MAX + 1] = '\0';
  CHECK(!write_sink(long_name, false) && strstr(error.message, "name too long") != NULL);
  long_name[NAME_MAX] = '\0';
  CHECK(write_sink(long_name, false) && unlink(long_name) == 0);
}

static void test_links(void) {
  static const char *const targets[] = {"f", "./f", "../link-to-directory/f", "b/../f", "/proc/self/cwd/a/f"};
  REQUIRE(symlink("a", "link-to-directory") == 0);
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    REQUIRE(symlink(targets[i], "a/link") == 0);
    CHECK(write_sink("link-to-directory/link", true) && write_sink("a/link", false) && holds("a/f", "new"));
    CHECK(unlink("a/f") == 0 && unlink("a/link") == 0);
  }
  unlink("link-to-directory");
}

static void test_many_links(void) {
  char name[16], next[16];
  for (int i = 0; i < 41; i++) {
    snprintf(name, sizeof name, "l%d", i);
    snprintf(next, sizeof next, "l%d", i + 1);
    REQUIRE(symlink(next, name) == 0);
  }
  CHECK(write_sink("l1", false) && holds("l41", "new"));
  CHECK(!write_sink("l0", false) && strstr(error.message, "symbolic links") != NULL);
  for (int i = 0; i < 42; i++) {
    snprintf(name, sizeof name, "l%d", i);
    unlink(name);
  }
}

// The text of such a link does not lead to the pipe.
static void test_links_of_the_kernel(void) {
  int fds[2];
  char path[48], seen[8];
  REQUIRE(pipe2(fds, O_CLOEXEC) == 0);
  snprintf(path, sizeof path, "/dev/fd/%d", fds[1]);
  CHECK(write_sink(path, false) && rd_read_some(fds[0], seen, sizeof seen) == 3 && memcmp(seen, "new", 3) == 0);
  close(fds[0]);
  close(fds[1]);
}

static void test_directory_put_elsewhere(void) {
  REQUIRE(mkdir("moved", 0700) == 0 && mkdir("elsewhere", 0700) == 0);
  struct rd_sink *sink = rd_sink_open("moved/f", false, &error);
  REQUIRE(sink != NULL && rename("moved", "as-it-was") == 0 && symlink("elsewhere", "moved") == 0);
  CHECK(rd_sink_write(sink, (const unsigned char *)"new", 3, &stop, &error) && rd_sink_commit(sink, &error));
  rd_sink_destroy(sink);
  CHECK(holds("as-it-was/f", "new") && rmdir("elsewhere") == 0);
  unlink("as-it-was/f");
  CHECK(rmdir("as-it-was") == 0 && unlink("moved") == 0);
}

struct shared {
  mode_t mode;    // mode of the directory, which belongs to root
  unsigned owner; // owner of the files in it
  unsigned user;  // the user who writes
  bool refused;
};

static const struct shared cases[] = {
    {01777, STRANGER, 0, true},            // as in /tmp
    {01770, STRANGER, 0, true},            // for a group only
    {01777, STRANGER, STRANGER + 1, true}, // not only root is kept from it
    {01777, STRANGER, STRANGER, false},    // the user's own file
    {01777, 0, STRANGER, false},           // owned by the directory's owner
    {01755, STRANGER, 0, false},           // others cannot create files there
    {0777, STRANGER, 0, false},            // files are not protected there either: each may be replaced at any time
};

static void as_user(const struct shared *shared, bool (*is_right)(const struct shared *shared)) {
  pid_t child = fork();
  if (child == 0) {
    bool became = shared->user == 0 || setresuid(shared->user, shared->user, shared->user) == 0;
    _exit(became && CHECK(is_right(shared)) ? 0 : 1);
  }
  int status = -1;
  if (!CHECK(waitpid(child, &status, 0) == child && status == 0))
    fprintf(stderr, "directory %o, owner %u, user %u\n", shared->mode, shared->owner, shared->user);
}

static bool told(bool refused, const char *name) {
  return !refused || (error.code == RD_CODE_SINK_UNWRITABLE && strstr(error.message, name) != NULL &&
                      strstr(error.message, "in a shared directory") != NULL);
}

static bool follows(const struct shared *shared) {
  static const char *const paths[] = {"shared/link", "shared/way/f", "shared/way/../open/f", "to-link"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    for (int append = 0; append < 2; append++) {
      if (write_sink(paths[i], append) == shared->refused) return false;
      if (!told(shared->refused, i % 3 == 0 ? "link" : "way")) return false;
    }
  return true;
}

static void test_links_of_others(void) {
  REQUIRE(mkdir("open", 0777) == 0 && chmod("open", 0777) == 0 && symlink("shared/link", "to-link") == 0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    REQUIRE(mkdir("shared", 0700) == 0 && symlink("../open/f", "shared/link") == 0);
    REQUIRE(symlink("../open", "shared/way") == 0);
    REQUIRE(lchown("shared/link", cases[i].owner, 0) == 0 && lchown("shared/way", cases[i].owner, 0) == 0);
    REQUIRE(chmod("shared", cases[i].mode) == 0);
    as_user(&cases[i], follows);
    CHECK((access("open/f", F_OK) < 0) == cases[i].refused);
    unlink("open/f");
    unlink("shared/link");
    unlink("shared/way");
    CHECK(rmdir("shared") == 0);
  }
  unlink("to-link");
  CHECK(rmdir("open") == 0);
}

static bool appends(const struct shared *shared) {
  return write_sink("shared/f", true) != shared->refused && told(shared->refused, "f, in");
}

static bool replaces(const struct shared *shared) {
  return write_sink("shared/f", false) != shared->refused && told(shared->refused, "f, in");
}

static bool opens_fifo(const struct shared *shared) {
  struct rd_sink *sink = rd_sink_open("shared/fifo", false, &error);
  bool opened = sink != NULL;
  rd_sink_destroy(sink);
  return opened != shared->refused && told(shared->refused, "fifo");
}

static void test_files_of_others(void) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    REQUIRE(mkdir("shared", 0700) == 0);
    put_file("shared/f", "old");
    REQUIRE(mkfifo("shared/fifo", 0600) == 0);
    REQUIRE(chmod("shared/f", 0666) == 0 && chown("shared/f", cases[i].owner, 0) == 0);
    REQUIRE(chmod("shared/fifo", 0666) == 0 && chown("shared/fifo", cases[i].owner, 0) == 0);
    REQUIRE(chmod("shared", cases[i].mode) == 0);
    as_user(&cases[i], appends);
    CHECK(holds("shared/f", cases[i].refused ? "old" : "oldnew"));
    // A user cannot keep the owner of another user's file.
    if (cases[i].refused || cases[i].user == cases[i].owner || cases[i].user == 0) as_user(&cases[i], replaces);
    CHECK(!cases[i].refused || holds("shared/f", "old"));
    as_user(&cases[i], opens_fifo);
    unlink("shared/f");
    unlink("shared/fifo");
    CHECK(rmdir("shared") == 0);
  }
}

// Below such a directory of a stranger no link of that user is followed, also if the user made it look like a shared
// one.
static void test_directories_of_others(void) {
  static const mode_t modes[] = {0777, 01777};
  static const char *const links[] = {"shared/part/link", "shared/part/way/f", "shared/part/../part/link",
                                      "shared/part/below/link"};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    REQUIRE(mkdir("open", 0700) == 0 && mkdir("shared", 0700) == 0 && chmod("shared", 01777) == 0);
    REQUIRE(mkdir("shared/part", 0700) == 0 && mkdir("shared/part/below", 0777) == 0);
    REQUIRE(symlink("../../open/f", "shared/part/link") == 0 && symlink("../../open", "shared/part/way") == 0);
    REQUIRE(symlink("../link", "shared/part/below/link") == 0 && symlink("../../open/f", "shared/part/own") == 0);
    static const char *const theirs[] = {"shared/part", "shared/part/link", "shared/part/way"};
    for (size_t k = 0; k < 3; k++) REQUIRE(lchown(theirs[k], STRANGER, 0) == 0);
    REQUIRE(chmod("shared/part", modes[i]) == 0);
    for (size_t k = 0; k < sizeof links / sizeof *links; k++)
      CHECK(!write_sink(links[k], k % 2 == 0) && strstr(error.message, "another user's part of a shared") != NULL);
    CHECK(access("open/f", F_OK) < 0);
    CHECK(write_sink("shared/part/own", false) && holds("open/f", "new"));
    CHECK(write_sink("shared/part/f", false) && write_sink("shared/part/f", true) && holds("shared/part/f", "newnew"));
    REQUIRE(link("open/f", "shared/part/name") == 0);
    CHECK(!write_sink("shared/part/name", true) && strstr(error.message, "hard links") != NULL);
    CHECK(write_sink("shared/part/name", false) && holds("open/f", "new"));
    REQUIRE(system("rm -r shared open") == 0);
  }
}

// A shared directory of a stranger: as in any other, files of third users are refused, and its owner's are written.
static void test_files_in_directories_of_others(void) {
  REQUIRE(mkdir("shared", 0700) == 0 && chmod("shared", 01777) == 0);
  REQUIRE(mkdir("shared/part", 0700) == 0 && chown("shared/part", STRANGER, 0) == 0);
  REQUIRE(chmod("shared/part", 01777) == 0);
  put_file("shared/part/g", "old");
  put_file("shared/theirs", "old");
  REQUIRE(chown("shared/part/g", STRANGER + 1, 0) == 0 && chown("shared/theirs", STRANGER, 0) == 0);
  for (int append = 0; append < 2; append++) {
    CHECK(!write_sink("shared/part/g", append) && holds("shared/part/g", "old"));
    CHECK(!write_sink("shared/part/../theirs", append) && holds("shared/theirs", "old"));
  }
  REQUIRE(chown("shared/part/g", STRANGER, 0) == 0);
  CHECK(write_sink("shared/part/g", true) && holds("shared/part/g", "oldnew"));
  REQUIRE(system("rm -r shared") == 0);
}

static void test_names_in_a_shared_directory(void) {
  REQUIRE(mkdir("shared", 0700) == 0);
  put_file("f", "old");
  REQUIRE(link("f", "shared/f") == 0);
  CHECK(write_sink("shared/f", true) && holds("f", "oldnew")); // no other user can have made the name
  REQUIRE(chmod("shared", 01777) == 0);
  CHECK(!write_sink("shared/f", true) && strstr(error.message, "hard links") != NULL && holds("f", "oldnew"));
  CHECK(write_sink("shared/f", false) && holds("shared/f", "new") && holds("f", "oldnew"));
  REQUIRE(unlink("f") == 0 && unlink("shared/f") == 0 && rmdir("shared") == 0);
}

// Links and files that took a free name after the lookup are refused.
static void test_come_between(void) {
  REQUIRE(mkdir("shared", 0700) == 0 && chmod("shared", 01777) == 0);
  struct rd_resolved_path resolved;
  REQUIRE(rd_resolve_path(&resolved, "shared/f", &error) && !resolved.exists);
  REQUIRE(symlink("/etc/passwd", "shared/f") == 0);
  CHECK(rd_resolved_path_open(&resolved, O_WRONLY | O_APPEND) < 0 && errno == ELOOP);
  unlink("shared/f");
  put_file("shared/f", "old");
  REQUIRE(chown("shared/f", STRANGER, 0) == 0);
  CHECK(rd_resolved_path_open(&resolved, O_WRONLY | O_APPEND) < 0 && errno == EACCES);
  rd_resolved_path_close(&resolved);
  unlink("shared/f");
  CHECK(rmdir("shared") == 0);
}

int main(void) {
  REQUIRE(mkdtemp(directory) != NULL && chmod(directory, 0755) == 0 && chdir(directory) == 0);
  test_paths();
  test_links();
  test_many_links();
  test_links_of_the_kernel();
  test_directory_put_elsewhere();
  if (geteuid() == 0) {
    test_links_of_others();
    test_files_of_others();
    test_directories_of_others();
    test_files_in_directories_of_others();
    test_names_in_a_shared_directory();
    test_come_between();
  } else {
    fprintf(stderr, "resolved path: only root can make files of other users: without those\n");
  }
  CHECK(rmdir("a/b") == 0 && rmdir("a") == 0 && chdir("/") == 0 && rmdir(directory) == 0);
  return test_end("resolved path");
}
