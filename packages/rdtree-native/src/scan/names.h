// SPDX-License-Identifier: Apache-2.0
// The names of a directory, read in limited portions, each sorted by bytes.
#ifndef RD_TREE_NAMES_H
#define RD_TREE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rd_found_name {
  uint32_t offset;    // of the name in `text`
  unsigned char type; // DT_DIR, …; DT_UNKNOWN if the file system does not report it
};

struct rd_names {
  struct rd_found_name *at;
  size_t count, room;
  char *text;
  size_t text_bytes, text_room;
};

// Replaces the contents of `names` by the next names of the directory, about 16,384 of them, without "." and "..".
// There are none at the end of the directory. Returns false, with errno, on failure.
bool rd_names_read(struct rd_names *names, int fd);
// Valid until `names` changes.
const char *rd_names_text(const struct rd_names *names, size_t index);
// Keeps only the names of type DT_DIR, in as little memory as they need.
void rd_names_keep_directories(struct rd_names *names);
void rd_names_clear(struct rd_names *names);

#endif
