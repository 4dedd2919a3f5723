/* White space as Python's `str.split` knows it, in UTF-8, and characters that control terminals. */

#ifndef DEHUSK_WHITE_H
#define DEHUSK_WHITE_H

#include "bytes.h"

/* How many bytes of white space stand at a place, one character of it; 0 for none. */
static inline size_t white_at(const uint8_t *at, size_t left)
{
    if (*at < 0x80)
        return *at == ' ' || (*at >= '\t' && *at <= '\r') || (*at >= 0x1C && *at <= 0x1F);
    if (*at == 0xC2)
        return left >= 2 && (at[1] == 0x85 || at[1] == 0xA0) ? 2 : 0;
    if (*at < 0xE1 || *at > 0xE3 || left < 3)
        return 0;
    uint32_t code = (uint32_t)(*at & 0x0F) << 12 | (uint32_t)(at[1] & 0x3F) << 6 | (at[2] & 0x3F);
    int is_white = code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
                   code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
    return is_white ? 3 : 0;
}

/* How many bytes a control character takes at a place, of C0, C1 or DEL; 0 for none. Tabs, breaks and feeds are
   white space. */
static inline size_t control_at(const uint8_t *at, size_t left)
{
    if (*at < 0x80)
        return (*at < ' ' && !(*at >= '\t' && *at <= '\r')) || *at == 0x7F;
    return *at == 0xC2 && left >= 2 && at[1] < 0xA0 ? 2 : 0;
}

/* What white space in preformatted text is written as. */
static inline uint8_t fixed_byte(uint8_t byte)
{
    return byte == '\r' ? '\n' : byte == '\v' || byte == '\f' ? ' ' : byte;
}

/* The text with one space for a run of white space or control characters, and none at its ends, in place; its
   size. */
static inline size_t collapse(uint8_t *text, size_t size)
{
    size_t to = 0;
    int has_gap = 0;
    for (size_t at = 0; at < size;) {
        size_t white = white_at(text + at, size - at);
        white = white ? white : control_at(text + at, size - at);
        if (white) {
            has_gap = to > 0;
            at += white;
            continue;
        }
        if (has_gap)
            text[to++] = ' ';
        has_gap = 0;
        text[to++] = text[at++];
    }
    return to;
}

#endif
