// SPDX-License-Identifier: Apache-2.0
// Events on standard error: each is one line that rdpipe accepts, whatever the paths.
#include "report/events.h"
#include "report/lines.h"

#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LONGEST_LINE (128 << 10) // see docs/protocol/trees.md, section 5.3

static char written[1 << 20];

static void report_slowest(const char *path) {
  struct rd_slow_path paths[10];
  for (size_t i = 0; i < 10; i++) paths[i] = (struct rd_slow_path){path, 1, 1};
  rd_events_slowest(false, paths, 10);
}

// Keeps the events that it reports in `written`.
static void catch_events(void (*report)(const char *), const char *path) {
  int kept = dup(STDERR_FILENO), file = memfd_create("events", MFD_CLOEXEC);
  dup2(file, STDERR_FILENO);
  report(path);
  dup2(kept, STDERR_FILENO);
  ssize_t count = pread(file, written, sizeof written - 1, 0);
  written[count < 0 ? 0 : count] = '\0';
  close(file);
  close(kept);
}

static void report_failure(const char *path) {
  rd_events_failed(path, EACCES, "cannot read it");
}

static void a_path_is_hexadecimal(void) {
  catch_events(report_failure, "a\n\xff");
  CHECK(strcmp(written, "{\"event\":\"failed\",\"path\":\"610aff\",\"code\":\"EACCES\",\"message\":\"cannot read it: "
                        "permission denied\"}\n") == 0);
}

static void report_part(const char *path) {
  rd_events_kept(path, 8192);
}

static void a_part_that_is_kept_has_its_size(void) {
  catch_events(report_part, "a");
  CHECK(strcmp(written, "{\"event\":\"kept\",\"path\":\"61\",\"bytes\":8192}\n") == 0);
}

static void a_line_is_short_however_deep_the_tree(void) {
  static char path[60000];
  memset(path, 'a', sizeof path - 1);
  memcpy(path, "begin", 5);
  memcpy(path + sizeof path - 4, "end", 3);
  catch_events(report_slowest, path);
  CHECK(strlen(written) < LONGEST_LINE && strchr(written, '\n') == written + strlen(written) - 1);
  CHECK(strstr(written, "\"626567696e6161") != NULL && strstr(written, "6161656e64\"") != NULL);
  CHECK(strstr(written, "61e280a661") != NULL);
}

static void report_end(const char *path) {
  struct rd_tree_totals totals = {.files = 1, .bytes = 2048};
  struct rd_error error;
  rd_events_progress(&totals, path, false);
  rd_error_set(&error, RD_CODE_CLOSED, "the reader is gone");
  rd_events_fatal(&error);
  rd_events_progress(&totals, NULL, true);
}

// Must come last: lines stay enabled.
static void lines_are_for_people(void) {
  struct rd_tree_settings settings = {.role = RD_TREE_SCAN, .report = RD_REPORT_TEXT};
  rd_lines_begin(&settings);
  CHECK(!rd_lines_are_wanted());
  settings.role = RD_TREE_SEND;
  rd_lines_begin(&settings);
  catch_events(report_failure, "a\n\x1b[1mb");
  CHECK(strcmp(written, "rdsend: a??[1mb: cannot read it: permission denied\n") == 0);
  catch_events(report_end, "a");
  CHECK(strcmp(written, "rdsend: sent 1 file, 2.0 KiB; 2 paths failed\n") == 0);
}

int main(void) {
  a_path_is_hexadecimal();
  a_part_that_is_kept_has_its_size();
  a_line_is_short_however_deep_the_tree();
  lines_are_for_people();
  return test_end("events");
}
