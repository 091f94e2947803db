// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding of hexadecimal text.
#ifndef RD_BASE_HEX_H
#define RD_BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>

// Writes 2 * `count` lower-case digits and a NUL to `text`. Returns false, with nothing written, if they do not fit in
// `text_bytes`.
bool rd_hex_encode(const unsigned char *bytes, size_t count, char *text, size_t text_bytes);

// Decodes exactly `digits` digits of `text` (either case) to `out` and sets *count to digits / 2. Returns false if
// `digits` is odd, the result does not fit in `out_bytes`, or a character is not a digit; `out` may then hold a part of
// the result.
bool rd_hex_decode(const char *text, size_t digits, unsigned char *out, size_t out_bytes, size_t *count);

#endif
