// SPDX-License-Identifier: Apache-2.0
// Checks for the C test suites. A suite is one program: checks, then `return test_end("name");`.
#ifndef RD_TEST_H
#define RD_TEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_uint test_checks, test_failures;

// A limit for hangs: a fast machine needs a thousandth of it. $RDPIPE_TEST_PATIENCE multiplies it.
#define WAIT_MS test_wait_ms()
static inline int test_wait_ms(void) {
  const char *factor = getenv("RDPIPE_TEST_PATIENCE");
  return (int)(60000 * (factor != NULL && *factor != '\0' ? strtod(factor, NULL) : 1));
}

// Counts a check and prints a failure; the suite continues.
#define CHECK(condition) test_check((condition), #condition, __FILE__, __LINE__)
// For conditions that the rest of the suite depends on: a failure ends the suite.
#define REQUIRE(condition)                                                                                             \
  do {                                                                                                                 \
    if (!CHECK(condition)) exit(1);                                                                                    \
  } while (0)

static inline bool test_check(bool right, const char *condition, const char *file, int line) {
  test_checks++;
  if (right) return true;
  test_failures++;
  fprintf(stderr, "%s:%d: %s\n", file, line, condition);
  return false;
}

// Prints one line and returns the program's exit status.
static inline int test_end(const char *suite) {
  printf("%s: %u checks", suite, test_checks);
  if (test_failures > 0) printf(", %u FAILED", test_failures);
  printf("\n");
  return test_failures > 0 || test_checks == 0;
}

#endif
