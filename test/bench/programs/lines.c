// SPDX-License-Identifier: Apache-2.0
// Measures the latency of lines through a connection.
// `lines write FILE N` writes a line and waits until `lines read FILE` has received it and created FILE: the connection
// works. Then it writes N lines, one per millisecond. `lines read` prints on standard error the time from before a line
// was written until it was read: `lines: N lines, median S us, 99 of 100 within S us`.
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 32, LINES_MAX = 1000000, PERIOD_NS = 1000000, PATIENCE_S = 60, S_NS = 1000000000 };

struct log {
  int64_t *delays_ns;
  size_t lines;
};

static int write_lines(const char *file, long count);
static bool write_line(void);
static bool wait_for(const char *file);
static void sleep_until(int64_t due_ns);
static int read_lines(const char *file);
static bool make(const char *file);
static size_t note(struct log *log, const char *bytes, size_t count);
static int tell(struct log *log);
static int by_size(const void *left, const void *right);
static int64_t now_ns(void);

int main(int argc, char **argv) {
  long count = argc == 4 && strcmp(argv[1], "write") == 0 ? strtol(argv[3], NULL, 10) : 0;
  if (count > 0 && count < LINES_MAX) return write_lines(argv[2], count);
  if (argc == 3 && strcmp(argv[1], "read") == 0) return read_lines(argv[2]);
  fputs("usage: lines write FILE N | lines read FILE\n", stderr);
  return 2;
}

static int write_lines(const char *file, long count) {
  if (!write_line() || !wait_for(file)) return 1;
  int64_t due_ns = now_ns();
  for (long i = 0; i < count; i++) {
    sleep_until(due_ns += PERIOD_NS);
    if (!write_line()) return 1;
  }
  return 0;
}

static bool write_line(void) {
  char line[LINE_BYTES + 1];
  snprintf(line, sizeof line, "%*lld\n", LINE_BYTES - 1, (long long)now_ns());
  // So few bytes are written to a pipe completely or not at all.
  if (write(STDOUT_FILENO, line, LINE_BYTES) == LINE_BYTES) return true;
  perror("lines: cannot write");
  return false;
}

static bool wait_for(const char *file) {
  int64_t due_ns = now_ns(), last_ns = due_ns + (int64_t)PATIENCE_S * S_NS;
  while (access(file, F_OK) != 0) {
    if (due_ns > last_ns) return false;
    sleep_until(due_ns += PERIOD_NS);
  }
  return true;
}

static void sleep_until(int64_t due_ns) {
  struct timespec due = {.tv_sec = due_ns / S_NS, .tv_nsec = due_ns % S_NS};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) continue;
}

static int read_lines(const char *file) {
  struct log log = {.delays_ns = calloc(LINES_MAX, sizeof *log.delays_ns)};
  if (log.delays_ns == NULL) return 1;
  size_t have = 0;
  char buffer[LINE_BYTES * 1024 + 1];
  for (;;) {
    ssize_t more = read(STDIN_FILENO, buffer + have, sizeof buffer - 1 - have);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    if (log.lines == 0 && !make(file)) return 1;
    have += (size_t)more;
    size_t used = note(&log, buffer, have);
    memmove(buffer, buffer + used, have -= used);
  }
  int status = have == 0 && log.lines > 1 ? tell(&log) : 1;
  free(log.delays_ns);
  return status;
}

static bool make(const char *file) {
  int made = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (made < 0) perror(file);
  if (made >= 0) close(made);
  return made >= 0;
}

// Logs the complete lines; returns the number of their bytes.
static size_t note(struct log *log, const char *bytes, size_t count) {
  int64_t came_ns = now_ns();
  size_t used = 0;
  for (; count - used >= LINE_BYTES && log->lines < LINES_MAX; used += LINE_BYTES)
    log->delays_ns[log->lines++] = came_ns - strtoll(bytes + used, NULL, 10);
  return used;
}

// Does not count the first line.
static int tell(struct log *log) {
  int64_t *delays_ns = log->delays_ns + 1;
  size_t count = log->lines - 1;
  qsort(delays_ns, count, sizeof *delays_ns, by_size);
  fprintf(stderr, "lines: %zu lines, median %.1f us, 99 of 100 within %.1f us\n", count,
          (double)delays_ns[count / 2] / 1e3, (double)delays_ns[count * 99 / 100] / 1e3);
  return 0;
}

static int by_size(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * S_NS + now.tv_nsec;
}
