// SPDX-License-Identifier: Apache-2.0
// Characters that text from outside may not contain.
// These are controls, marks that reorder or hide text, and surrogates.
// packages/rdpipe/src/model/text.ts has the same ranges; its test compares them with these lines.
#ifndef RD_BASE_TEXT_UNSAFE_H
#define RD_BASE_TEXT_UNSAFE_H

#include <stdint.h>

static const struct {
  uint32_t first, last;
} text_unsafe[] = {
    {0x0, 0x1f},        // C0
    {0x7f, 0x9f},       // DEL, C1
    {0x61c, 0x61c},     // a direction mark
    {0x200b, 0x200f},   // zero width; direction marks
    {0x2028, 0x202e},   // line separators; direction overrides
    {0x2060, 0x206f},   // zero width; isolates
    {0xd800, 0xdfff},   // surrogates
    {0xfeff, 0xfeff},   // byte order mark
    {0xfff9, 0xfffb},   // annotations
    {0xe0000, 0xe007f}, // tags
};

#endif
