// SPDX-License-Identifier: Apache-2.0
// Characters that strangers' words may not hold: controls, what reorders or hides text, halves of characters. rdpipe
// has the same (packages/rdpipe/src/model/text.ts), which its test compares with these lines.
#ifndef RD_BASE_TEXT_UNSAFE_H
#define RD_BASE_TEXT_UNSAFE_H

#include <stdint.h>

static const struct {
  uint32_t first, last;
} text_unsafe[] = {
    {0x0, 0x1f},        // C0
    {0x7f, 0x9f},       // DEL, C1
    {0x61c, 0x61c},     // a mark of direction
    {0x200b, 0x200f},   // no width; marks of direction
    {0x2028, 0x202e},   // separators of lines; overrides of direction
    {0x2060, 0x206f},   // no width; isolates
    {0xd800, 0xdfff},   // halves of characters
    {0xfeff, 0xfeff},   // a byte order mark
    {0xfff9, 0xfffb},   // annotations
    {0xe0000, 0xe007f}, // tags
};

#endif
