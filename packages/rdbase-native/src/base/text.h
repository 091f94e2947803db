// SPDX-License-Identifier: Apache-2.0
// Text from outside this program, made safe for a terminal and for JSON.
#ifndef RD_BASE_TEXT_H
#define RD_BASE_TEXT_H

#include <stddef.h>

// Replaces each byte of the characters in text_unsafe.h, among them NUL, and of invalid UTF-8 by '?', in place.
void rd_text_clean(char *text, size_t bytes);

#endif
