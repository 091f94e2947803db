// SPDX-License-Identifier: Apache-2.0
#include "entry/partial_name.h"

#include "base/digest.h"
#include "base/hex.h"

#include <string.h>

#define PREFIX ".rdcp-"
#define PREFIX_BYTES (sizeof PREFIX - 1)

void rd_partial_name(struct rd_bytes final_name, char name[RD_PARTIAL_NAME_BYTES]) {
  unsigned char digest[RD_DIGEST_BYTES];
  rd_digest_of(final_name.at, final_name.count, digest);
  memcpy(name, PREFIX, PREFIX_BYTES);
  rd_hex_encode(digest, sizeof digest, name + PREFIX_BYTES, RD_PARTIAL_NAME_BYTES - PREFIX_BYTES);
}

bool rd_name_is_partial(struct rd_bytes name) {
  if (name.count != RD_PARTIAL_NAME_BYTES - 1 || memcmp(name.at, PREFIX, PREFIX_BYTES) != 0) return false;
  for (size_t i = PREFIX_BYTES; i < name.count; i++)
    if (name.at[i] == '\0' || strchr("0123456789abcdef", name.at[i]) == NULL) return false;
  return true;
}

bool rd_name_is_of_copy(struct rd_bytes name, bool is_top) {
  static const char journals[] = RD_JOURNAL_DIRECTORY;
  bool is_journals = name.count == sizeof journals - 1 && memcmp(name.at, journals, name.count) == 0;
  bool is_temporary = name.count >= PREFIX_BYTES && memcmp(name.at, PREFIX, PREFIX_BYTES) == 0;
  return is_journals ? is_top : is_temporary && !rd_name_is_partial(name);
}
