// SPDX-License-Identifier: Apache-2.0
// Sizes as people read them: "5.5 MiB".
#ifndef RD_SIZE_WORDS_H
#define RD_SIZE_WORDS_H

#include <stddef.h>

#define RD_SIZE_WORDS_BYTES 32u

void rd_size_words(double bytes, char *out, size_t out_bytes);

#endif
