// SPDX-License-Identifier: Apache-2.0
#include "report/lines.h"

#include "base/io.h"
#include "base/size_text.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES (9u << 10)
#define PATH_SHOWN_BYTES (8 << 10)

static const char *program; // NULL: events are wanted
static const char *done;
static enum rd_tree_output report;

static void print(const char *format, ...) __attribute__((format(printf, 1, 2)));

void rd_lines_begin(const struct rd_tree_settings *settings) {
  bool is_sender = settings->role == RD_TREE_SEND;
  report = settings->report;
  if (report == RD_REPORT_EVENTS || (!is_sender && settings->role != RD_TREE_WRITE)) return;
  program = is_sender ? "rdsend" : "rdrecv";
  done = is_sender ? "sent" : "wrote";
}

bool rd_lines_are_wanted(void) {
  return program != NULL;
}

void rd_lines_failed(const char *path, const char *text) {
  print("%.*s: %s", PATH_SHOWN_BYTES, path, text);
}

void rd_lines_warning(const char *text) {
  if (report != RD_REPORT_QUIET) print("%s", text);
}

void rd_lines_fatal(const struct rd_error *error) {
  if (error->code != RD_CODE_CLOSED && error->code != RD_CODE_ABORTED) print("%s", error->message);
}

void rd_lines_summary(uint64_t files, uint64_t bytes, uint64_t failures) {
  char size[RD_SIZE_TEXT_BYTES], failed[64] = "";
  if (report == RD_REPORT_QUIET || (report == RD_REPORT_TEXT && failures == 0)) return;
  rd_size_text((double)bytes, size, sizeof size);
  if (failures > 0)
    snprintf(failed, sizeof failed, "; %" PRIu64 " %s failed", failures, failures == 1 ? "path" : "paths");
  print("%s %" PRIu64 " %s, %s%s", done, files, files == 1 ? "file" : "files", size, failed);
}

// Writes the line in one call, so that lines of several threads do not mix. Erases the row of progress that rdsend or
// rdrecv may have on the terminal.
static void print(const char *format, ...) {
  char line[LINE_BYTES];
  int begin = snprintf(line, sizeof line, "%s%s: ", isatty(STDERR_FILENO) ? "\r\033[K" : "", program);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line + begin, sizeof line - (size_t)begin - 1, format, arguments);
  va_end(arguments);
  size_t count = strlen(line);
  rd_text_clean(line + begin, count - (size_t)begin);
  line[count++] = '\n';
  (void)!rd_write_all(STDERR_FILENO, line, count);
}
