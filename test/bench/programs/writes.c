// SPDX-License-Identifier: Apache-2.0
// `writes SIZE N` writes SIZE bytes to standard output, N times, as fast as the reader accepts them.
// Prints its start by the monotonic clock on standard error: `writes: from S s`.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static bool write_all(const char *bytes, size_t count);

int main(int argc, char **argv) {
  long size = argc == 3 ? strtol(argv[1], NULL, 10) : 0, count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
  char *bytes = size > 0 && count > 0 ? calloc(1, (size_t)size) : NULL;
  if (bytes == NULL) fputs("usage: writes SIZE N\n", stderr);
  if (bytes == NULL) return 2;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  fprintf(stderr, "writes: from %.6f s\n", (double)now.tv_sec + (double)now.tv_nsec / 1e9);
  bool good = true;
  for (long i = 0; good && i < count; i++) good = write_all(bytes, (size_t)size);
  free(bytes);
  return good ? 0 : 1;
}

static bool write_all(const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t taken = write(STDOUT_FILENO, bytes, count);
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) perror("writes: cannot write");
    if (taken < 0) return false;
    bytes += taken;
    count -= (size_t)taken;
  }
  return true;
}
