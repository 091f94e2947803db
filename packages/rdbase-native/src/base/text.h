// SPDX-License-Identifier: Apache-2.0
// Makes text from outside this program safe for a terminal and for JSON.
#ifndef RD_BASE_TEXT_H
#define RD_BASE_TEXT_H

#include <stddef.h>

// Replaces in place every byte of invalid UTF-8, and of the characters in text_unsafe.h (NUL is one of them), by '?'.
void rd_text_clean(char *text, size_t bytes);

#endif
