// SPDX-License-Identifier: Apache-2.0
// Text that somebody else wrote, made fit for a terminal and for JSON.
#ifndef RD_BASE_TEXT_H
#define RD_BASE_TEXT_H

#include <stddef.h>

// Replaces by '?', byte by byte and in place: the characters of text_unsafe.h, NUL among them, and what is not UTF-8.
void rd_text_clean(char *text, size_t bytes);

#endif
