// SPDX-License-Identifier: Apache-2.0
// Reads the kernel's one-line files and their directories.
#ifndef RD_BASE_SYSFS_H
#define RD_BASE_SYSFS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Reads the first line of a file, without its newline and cut to fit; `path` is a printf format. Returns false, with an
// empty text, if there is no such file or it is empty.
bool rd_sysfs_line(char *text, size_t text_bytes, const char *path, ...) __attribute__((format(printf, 3, 4)));

// Reads a file that holds one decimal number. Returns false if it does not.
bool rd_sysfs_number(int64_t *number, const char *path, ...) __attribute__((format(printf, 2, 3)));

// Returns true if the path, a printf format, exists.
bool rd_sysfs_exists(const char *path, ...) __attribute__((format(printf, 1, 2)));

// The names in a directory, sorted with numbers in them by value: eth2 before eth10.
struct rd_sysfs_names {
  struct dirent **entries; // entries[i]->d_name
  size_t count;
};

// Lists a directory; an empty list if it does not exist. Free with rd_sysfs_names_clear().
void rd_sysfs_list(struct rd_sysfs_names *names, const char *path, ...) __attribute__((format(printf, 2, 3)));
void rd_sysfs_names_clear(struct rd_sysfs_names *names);

#endif
