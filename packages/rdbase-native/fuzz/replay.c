// SPDX-License-Identifier: Apache-2.0
// Replays inputs without libFuzzer: each line of FILE.txt is one input, any other FILE is one input as a whole.
#include "base/cleanup.h"
#include "base/hex.h"
#include "fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static unsigned replay_lines(const char *path);
static bool replay_line(char *line);
static bool unescape(char *text, size_t *count);
static unsigned replay_file(const char *path);
static void fail(const char *path);

int main(int argc, char **argv) {
  unsigned inputs = 0;
  for (int i = 1; i < argc; i++) {
    const char *dot = strrchr(argv[i], '.');
    inputs += dot != NULL && strcmp(dot, ".txt") == 0 ? replay_lines(argv[i]) : replay_file(argv[i]);
  }
  const char *slash = strrchr(argv[0], '/');
  printf("%s: %u inputs\n", slash != NULL ? slash + 1 : argv[0], inputs);
  return inputs > 0 ? 0 : 1;
}

static unsigned replay_lines(const char *path) {
  unsigned inputs = 0;
  RD_AUTO_FREE char *line = NULL;
  size_t room = 0;
  FILE *lines = fopen(path, "re");
  if (lines == NULL) fail(path);
  for (; getline(&line, &room, lines) > 0; inputs++) {
    if (replay_line(line)) continue;
    fprintf(stderr, "%s:%u: not NAME:INPUT\n", path, inputs + 1);
    exit(1);
  }
  fclose(lines);
  return inputs;
}

// Copies the input to memory of exactly its length, so that a read past its end is a finding.
static bool replay_line(char *line) {
  char *text = strchr(line, ':');
  size_t count;
  if (text == NULL || !unescape(++text, &count)) return false;
  RD_AUTO_FREE uint8_t *bytes = malloc(count);
  FUZZ_REQUIRE(count == 0 || bytes != NULL);
  if (count > 0) memcpy(bytes, text, count);
  LLVMFuzzerTestOneInput(bytes, count);
  return true;
}

// Unescapes in place: \\,
// and \xNN are one byte each (scripts/fuzz-corpus.ts writes them).
static bool unescape(char *text, size_t *count) {
  unsigned char *begin = (unsigned char *)text, *end = begin;
  for (; *text != '\n'; text++) {
    size_t one;
    if (*text == '\0') return false;
    if (*text != '\\' || *++text == '\\')
      *end++ = (unsigned char)*text;
    else if (*text == 'n')
      *end++ = '\n';
    else if (*text == 'x' && rd_hex_decode(text + 1, 2, end++, 1, &one))
      text += 2;
    else
      return false;
  }
  *count = (size_t)(end - begin);
  return true;
}

static unsigned replay_file(const char *path) {
  struct stat status;
  RD_AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) < 0) fail(path);
  RD_AUTO_FREE uint8_t *bytes = malloc((size_t)status.st_size);
  if (status.st_size > 0 && (bytes == NULL || read(fd, bytes, (size_t)status.st_size) != status.st_size)) fail(path);
  LLVMFuzzerTestOneInput(bytes, (size_t)status.st_size);
  return 1;
}

static void fail(const char *path) {
  perror(path);
  exit(1);
}
