// SPDX-License-Identifier: Apache-2.0
// Measures the round trip of small messages through a connection.
// `ping-pong ping N` writes 64 bytes to standard output and waits for 64 bytes on standard input, N times.
// Then it closes its output, waits for the end of its input, and prints the times of round trips on standard error.
// A few round trips before those are not counted, because the first one waits for connections.
// `ping-pong pong` sends its input back.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE_BYTES = 64, NOT_COUNTED = 16, TRIPS_MAX = 10000000 };

static int ping(long trips);
static int pong(void);
static bool send_message(const char *message);
static ssize_t receive_message(char *message);
static void tell(double *trip_us, long trips);
static int by_size(const void *left, const void *right);
static double now_us(void);

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "pong") == 0) return pong();
  long trips = argc == 3 && strcmp(argv[1], "ping") == 0 ? strtol(argv[2], NULL, 10) : 0;
  if (trips > 0 && trips <= TRIPS_MAX) return ping(trips);
  fputs("usage: ping-pong ping N | ping-pong pong\n", stderr);
  return 2;
}

static int ping(long trips) {
  char message[MESSAGE_BYTES] = "ping", answer[MESSAGE_BYTES];
  double *trip_us = calloc((size_t)trips, sizeof *trip_us);
  if (trip_us == NULL) return 1;
  for (long i = -NOT_COUNTED; i < trips; i++) {
    memcpy(message + MESSAGE_BYTES - sizeof i, &i, sizeof i);
    double began_us = now_us();
    if (!send_message(message) || receive_message(answer) != MESSAGE_BYTES) return 1;
    if (i >= 0) trip_us[i] = now_us() - began_us;
    if (memcmp(message, answer, MESSAGE_BYTES) == 0) continue;
    fputs("ping-pong: another answer than was sent\n", stderr);
    return 1;
  }
  shutdown(STDOUT_FILENO, SHUT_WR); // if it is a socket
  close(STDOUT_FILENO);
  bool good = receive_message(answer) == 0;
  if (good) tell(trip_us, trips);
  free(trip_us);
  return good ? 0 : 1;
}

static int pong(void) {
  char message[MESSAGE_BYTES];
  ssize_t count;
  while ((count = receive_message(message)) == MESSAGE_BYTES)
    if (!send_message(message)) return 1;
  return count == 0 ? 0 : 1;
}

static bool send_message(const char *message) {
  // So few bytes are written to a pipe completely or not at all.
  if (write(STDOUT_FILENO, message, MESSAGE_BYTES) == MESSAGE_BYTES) return true;
  perror("ping-pong: cannot write");
  return false;
}

// Returns the number of bytes received before the end of the input, at most MESSAGE_BYTES; -1 on an error.
static ssize_t receive_message(char *message) {
  ssize_t have = 0;
  while (have < MESSAGE_BYTES) {
    ssize_t count = read(STDIN_FILENO, message + have, (size_t)(MESSAGE_BYTES - have));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) perror("ping-pong: cannot read");
    if (count < 0) return -1;
    if (count == 0) return have;
    have += count;
  }
  return have;
}

static void tell(double *trip_us, long trips) {
  double sum_us = 0;
  for (long i = 0; i < trips; i++) sum_us += trip_us[i];
  qsort(trip_us, (size_t)trips, sizeof *trip_us, by_size);
  double mean_us = sum_us / (double)trips;
  fprintf(stderr, "ping-pong: %.1f round trips/s, mean %.1f us, median %.1f us\n", 1e6 / mean_us, mean_us,
          trip_us[trips / 2]);
}

static int by_size(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}
