// SPDX-License-Identifier: Apache-2.0
// `lines write N` writes a line every millisecond, N times. `lines read` tells on standard error how many came, and how long
// they took from before they were written until they had been read: `lines: N lines, median S us, 99 of 100 within S us`.
// Those that were written before the first one came have waited for the connection, and are only counted.
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 32, LINES_MOST = 1000000, PERIOD_NS = 1000000, S_NS = 1000000000 };

struct log {
  int64_t *delays_ns;
  size_t measured, lines;
  int64_t first_came_ns;
};

static int write_lines(long count);
static int read_lines(void);
static size_t note(struct log *log, const char *bytes, size_t count);
static int by_size(const void *left, const void *right);
static int64_t now_ns(void);

int main(int argc, char **argv) {
  long count = argc == 3 && strcmp(argv[1], "write") == 0 ? strtol(argv[2], NULL, 10) : 0;
  if (count > 0 && count <= LINES_MOST) return write_lines(count);
  if (argc == 2 && strcmp(argv[1], "read") == 0) return read_lines();
  fputs("usage: lines write N | lines read\n", stderr);
  return 2;
}

static int write_lines(long count) {
  int64_t due_ns = now_ns();
  for (long i = 0; i < count; i++) {
    due_ns += PERIOD_NS;
    struct timespec due = {.tv_sec = due_ns / S_NS, .tv_nsec = due_ns % S_NS};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) continue;
    char line[LINE_BYTES + 1];
    snprintf(line, sizeof line, "%*lld\n", LINE_BYTES - 1, (long long)now_ns());
    // Into a pipe so few bytes go at once or not at all.
    if (write(STDOUT_FILENO, line, LINE_BYTES) == LINE_BYTES) continue;
    perror("lines: cannot write");
    return 1;
  }
  return 0;
}

static int read_lines(void) {
  struct log log = {.delays_ns = calloc(LINES_MOST, sizeof *log.delays_ns)};
  if (log.delays_ns == NULL) return 1;
  size_t have = 0;
  char buffer[LINE_BYTES * 1024 + 1];
  for (;;) {
    ssize_t more = read(STDIN_FILENO, buffer + have, sizeof buffer - 1 - have);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    have += (size_t)more;
    size_t used = note(&log, buffer, have);
    memmove(buffer, buffer + used, have -= used);
  }
  if (have > 0 || log.measured == 0) return 1;
  qsort(log.delays_ns, log.measured, sizeof *log.delays_ns, by_size);
  fprintf(stderr, "lines: %zu lines, median %.1f us, 99 of 100 within %.1f us\n", log.lines,
          (double)log.delays_ns[log.measured / 2] / 1e3, (double)log.delays_ns[log.measured * 99 / 100] / 1e3);
  free(log.delays_ns);
  return 0;
}

// How much of it was whole lines.
static size_t note(struct log *log, const char *bytes, size_t count) {
  int64_t now = now_ns();
  if (log->lines == 0) log->first_came_ns = now;
  size_t used = 0;
  for (; count - used >= LINE_BYTES && log->lines < LINES_MOST; used += LINE_BYTES) {
    int64_t written_ns = strtoll(bytes + used, NULL, 10);
    if (written_ns > log->first_came_ns) log->delays_ns[log->measured++] = now - written_ns;
    log->lines++;
  }
  return used;
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
