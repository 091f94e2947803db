// SPDX-License-Identifier: Apache-2.0
// Reads standard input to its end, without changing the size of its pipe.
// Prints on standard error the number of bytes, the time from the first byte to the end, and the arrival of the first
// byte by the monotonic clock: `drain: N bytes in S s from S s`.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 20 };

static double now_s(void);

int main(void) {
  char *buffer = malloc(READ_BYTES);
  if (buffer == NULL) return 1;
  unsigned long long bytes = 0;
  double began_s = 0;
  for (;;) {
    ssize_t count = read(STDIN_FILENO, buffer, READ_BYTES);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) perror("drain: cannot read");
    if (count < 0) return 1;
    if (count == 0) break;
    if (bytes == 0) began_s = now_s();
    bytes += (unsigned long long)count;
  }
  fprintf(stderr, "drain: %llu bytes in %.6f s from %.6f s\n", bytes, bytes == 0 ? 0 : now_s() - began_s, began_s);
  free(buffer);
  return 0;
}

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
