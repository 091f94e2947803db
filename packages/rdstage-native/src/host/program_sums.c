// SPDX-License-Identifier: Apache-2.0
// Uses the SHA-256 functions directly: setting up OpenSSL's providers takes longer than the digests.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "host/program_sums.h"

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define SUM_CHARACTERS ((size_t)SHA256_DIGEST_LENGTH * 2)
#define STATIC_PREFIX "../" // seen from a dynamic agent, whose hops over TCP are static programs
#define READ_BYTES (64u * 1024)

static const char *const programs[] = {"rdhop", "rdtree"};

static bool is_right(int directory_fd, const char *sums, const char *prefix, const char *program);
static const char *sum_of(const char *sums, const char *name);
static int open_program(int directory_fd, const char *name);
static bool digest(int fd, char sum[static SUM_CHARACTERS + 1]);

bool rd_program_sums_hold(const char *directory, const char *sums) {
  RD_AUTO_CLOSE int directory_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat dynamic;
  bool has_dynamic = fstatat(directory_fd, "dynamic", &dynamic, AT_SYMLINK_NOFOLLOW) == 0;
  if (has_dynamic ? !S_ISDIR(dynamic.st_mode) : errno != ENOENT) return false;
  const char *prefix = has_dynamic ? "dynamic/" : "";
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    if (!is_right(directory_fd, sums, prefix, programs[i])) return false;
  bool starts_others = has_dynamic || sum_of(sums, STATIC_PREFIX "rdhop") != NULL;
  return !starts_others || is_right(directory_fd, sums, has_dynamic ? "" : STATIC_PREFIX, "rdhop");
}

static bool is_right(int directory_fd, const char *sums, const char *prefix, const char *program) {
  char name[32], sum[SUM_CHARACTERS + 1];
  snprintf(name, sizeof name, "%s%s", prefix, program);
  const char *wanted = sum_of(sums, name);
  RD_AUTO_CLOSE int fd = wanted != NULL ? open_program(directory_fd, name) : -1;
  return fd >= 0 && digest(fd, sum) && strncmp(sum, wanted, SUM_CHARACTERS) == 0;
}

// Returns the text after `name=` in the list, which may be shorter than a digest; NULL if the name is not in the list.
static const char *sum_of(const char *sums, const char *name) {
  size_t length = strlen(name);
  for (const char *at = sums; at != NULL; at = strchr(at, ',')) {
    if (*at == ',') at++;
    if (strncmp(at, name, length) == 0 && at[length] == '=') return at + length + 1;
  }
  return NULL;
}

static int open_program(int directory_fd, const char *name) {
  struct stat status;
  RD_AUTO_CLOSE int fd = openat(directory_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode) || !(status.st_mode & S_IXUSR)) return -1;
  return rd_take_fd(&fd);
}

static bool digest(int fd, char sum[static SUM_CHARACTERS + 1]) {
  unsigned char buffer[READ_BYTES], raw[SHA256_DIGEST_LENGTH];
  SHA256_CTX context;
  ssize_t got;
  SHA256_Init(&context);
  while ((got = rd_read_some(fd, buffer, sizeof buffer)) > 0) SHA256_Update(&context, buffer, (size_t)got);
  SHA256_Final(raw, &context);
  return got == 0 && rd_hex_encode(raw, sizeof raw, sum, SUM_CHARACTERS + 1);
}
