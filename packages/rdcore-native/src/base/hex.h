// SPDX-License-Identifier: Apache-2.0
// Hexadecimal text, both ways, with bounds.
#ifndef RD_BASE_HEX_H
#define RD_BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>

// Writes 2 * `count` lower-case digits and a NUL to `text`. False, and nothing written, when that is more than
// `text_bytes`.
bool rd_hex_encode(const unsigned char *bytes, size_t count, char *text, size_t text_bytes);

// Decodes exactly `digits` digits of `text` (either case) to `out`; *count becomes digits / 2. False when `digits` is
// odd, more than `out_bytes` would be written, or a character is not a digit; `out` may then hold a part.
bool rd_hex_decode(const char *text, size_t digits, unsigned char *out, size_t out_bytes, size_t *count);

#endif
