// SPDX-License-Identifier: Apache-2.0
// What a function holds is given back when it returns: RD_AUTO_FREE char *words = …; RD_AUTO_CLOSE int fd = …;
// To hand it on, return rd_take_fd(&fd) or rd_take_pointer(&words).
#ifndef RD_BASE_CLEANUP_H
#define RD_BASE_CLEANUP_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RD_AUTO_FREE __attribute__((cleanup(rd_cleanup_free)))
#define RD_AUTO_CLOSE __attribute__((cleanup(rd_cleanup_fd)))
// For an object with a NULL-safe destroy function: RD_AUTO(rd_cleanup_thing), where that takes a pointer to the
// pointer.
#define RD_AUTO(function) __attribute__((cleanup(function)))

// `address` is the address of any pointer variable; memcpy because its type is not known here.
static inline void rd_cleanup_free(void *address) {
  void *pointer;
  memcpy(&pointer, address, sizeof pointer);
  free(pointer);
}

// Closes *fd unless it is negative and sets it to -1. Keeps errno: it runs between a failure and its report.
static inline void rd_cleanup_fd(int *fd) {
  int saved_errno = errno;
  if (*fd >= 0) close(*fd);
  *fd = -1;
  errno = saved_errno;
}

static inline int rd_take_fd(int *fd) {
  int taken = *fd;
  *fd = -1;
  return taken;
}

static inline void *rd_take_pointer(void *address) {
  void *pointer;
  memcpy(&pointer, address, sizeof pointer);
  memset(address, 0, sizeof pointer);
  return pointer;
}

#endif
