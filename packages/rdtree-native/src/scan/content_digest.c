// SPDX-License-Identifier: Apache-2.0
#include "scan/content_digest.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "base/memory.h"
#include "crypto/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES (1u << 20)

static void destroy(struct rd_digest **digest);

bool rd_content_digest(int fd, const char *name, unsigned char value[RD_DIGEST_TREE_BYTES]) {
  struct rd_error error;
  struct stat status;
  RD_AUTO_CLOSE int file = openat(fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0 || fstat(file, &status) < 0) return false;
  if (!S_ISREG(status.st_mode)) {
    errno = ESTALE;
    return false;
  }
  (void)posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
  RD_AUTO(destroy) struct rd_digest *digest = rd_digest_create(&error);
  RD_AUTO_FREE unsigned char *bytes = rd_memory_new(READ_BYTES, 1);
  if (digest == NULL) {
    errno = ENOMEM;
    return false;
  }
  for (;;) {
    ssize_t count = rd_read_some(file, bytes, READ_BYTES);
    if (count < 0) return false;
    if (count == 0) break;
    rd_digest_update(digest, bytes, (size_t)count);
  }
  rd_digest_value(digest, value);
  return true;
}

static void destroy(struct rd_digest **digest) {
  rd_digest_destroy(*digest);
}
