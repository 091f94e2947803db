// SPDX-License-Identifier: Apache-2.0
#include "base/sysfs.h"

#include "base/cleanup.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_visible(const struct dirent *entry);
static bool read_line(char *text, size_t text_bytes, const char *format, va_list values)
    __attribute__((format(printf, 3, 0)));
static bool make_path(char path[PATH_MAX], const char *format, va_list values) __attribute__((format(printf, 2, 0)));

bool rd_sysfs_line(char *text, size_t text_bytes, const char *path, ...) {
  va_list values;
  va_start(values, path);
  bool got = read_line(text, text_bytes, path, values);
  va_end(values);
  return got;
}

bool rd_sysfs_number(int64_t *number, const char *path, ...) {
  char text[32], *end;
  va_list values;
  va_start(values, path);
  bool got = read_line(text, sizeof text, path, values);
  va_end(values);
  errno = 0;
  *number = strtoll(text, &end, 10);
  return got && end != text && !*end && errno == 0;
}

bool rd_sysfs_exists(const char *path, ...) {
  char full[PATH_MAX];
  va_list values;
  va_start(values, path);
  bool fits = make_path(full, path, values);
  va_end(values);
  return fits && access(full, F_OK) == 0;
}

void rd_sysfs_list(struct rd_sysfs_names *names, const char *path, ...) {
  char full[PATH_MAX];
  va_list values;
  va_start(values, path);
  bool fits = make_path(full, path, values);
  va_end(values);
  *names = (struct rd_sysfs_names){0};
  int count = fits ? scandir(full, &names->entries, is_visible, versionsort) : 0;
  if (count < 0 && errno == ENOMEM) abort(); // see memory.h
  if (count > 0) names->count = (size_t)count;
}

void rd_sysfs_names_clear(struct rd_sysfs_names *names) {
  for (size_t i = 0; i < names->count; i++) free(names->entries[i]);
  free(names->entries);
  *names = (struct rd_sysfs_names){0};
}

static int is_visible(const struct dirent *entry) {
  return *entry->d_name != '.';
}

static bool read_line(char *text, size_t text_bytes, const char *format, va_list values) {
  char path[PATH_MAX];
  *text = '\0';
  if (!make_path(path, format, values)) return false;
  RD_AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t bytes = fd < 0 ? -1 : rd_read_some(fd, text, text_bytes - 1);
  text[bytes > 0 ? bytes : 0] = '\0';
  text[strcspn(text, "\n")] = '\0';
  return *text;
}

static bool make_path(char path[PATH_MAX], const char *format, va_list values) {
  int length = vsnprintf(path, PATH_MAX, format, values);
  return length > 0 && length < PATH_MAX;
}
