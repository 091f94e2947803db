// SPDX-License-Identifier: Apache-2.0
// Variables that free their memory or close their descriptor when they go out of scope.
// RD_AUTO_FREE char *text = …; RD_AUTO_CLOSE int fd = …; rd_take_fd(&fd) hands the descriptor over.
#ifndef RD_BASE_CLEANUP_H
#define RD_BASE_CLEANUP_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RD_AUTO_FREE __attribute__((cleanup(rd_cleanup_free)))
#define RD_AUTO_CLOSE __attribute__((cleanup(rd_cleanup_fd)))
// For other objects: RD_AUTO(rd_cleanup_thing), where rd_cleanup_thing() takes the variable's address.
#define RD_AUTO(function) __attribute__((cleanup(function)))

// Frees a pointer variable; `address` is its address. memcpy() reads it, because it may be of any pointer type.
static inline void rd_cleanup_free(void *address) {
  void *pointer;
  memcpy(&pointer, address, sizeof pointer);
  free(pointer);
}

// Closes *fd unless it is negative, and sets it to -1. Keeps errno, because it runs between a failure and its report.
static inline void rd_cleanup_fd(int *fd) {
  int saved_errno = errno;
  if (*fd >= 0) close(*fd);
  *fd = -1;
  errno = saved_errno;
}

// Returns *fd and sets it to -1: the caller takes ownership of the descriptor.
static inline int rd_take_fd(int *fd) {
  int taken = *fd;
  *fd = -1;
  return taken;
}

#endif
